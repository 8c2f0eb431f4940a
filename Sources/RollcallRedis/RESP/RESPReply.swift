// A reply as the reader finds it, with its values in one row. Messages and bulk reads are decoded directly from it;
// other callers convert it to a tree.

import NIOCore
public import RollcallProtocol

/// A reply with its values in the order of arrival: an array precedes its elements.
struct RESPReply: Hashable {
    enum Kind: UInt8 {
        case status, error, integer, bulk, array, null
    }

    private struct Value: Hashable {
        var kind: Kind
        /// The integer itself, an array's number of elements, or a text's number of bytes.
        var number: Int64

        var byteCount: Int {
            switch kind {
            case .status, .error, .bulk: Int(number)
            case .integer, .array, .null: 0
            }
        }
    }

    private var values: [Value] = []
    /// The bytes of all texts, concatenated.
    private var text = ByteBuffer()

    mutating func add(_ kind: Kind, _ number: Int64, _ bytes: UnsafeRawBufferPointer?) {
        values.append(Value(kind: kind, number: number))
        if let bytes { text.writeBytes(bytes) }
    }

    /// Keeps the memory for the next reply, unless it has grown large.
    mutating func clear() {
        values.removeAll(keepingCapacity: values.capacity <= 4096)
        text.clear(atMost: 64 * 1024)
    }

    /// About as many bytes as Redis has sent.
    var byteCount: Int { text.readableBytes + 8 * values.count }

    /// The line of the error, if the whole reply is one.
    var error: ByteString? { values.first?.kind == .error ? ByteString(decoding: text.readableBytesView) : nil }

    /// Reads a hash from a reply to `HGETALL`. Values that are not bulk strings are skipped.
    func forEachField(_ read: (_ field: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        text.withUnsafeReadableBytes { text in
            var start = 0
            for index in stride(from: 1, to: values.count - 1, by: 2) {
                let (field, value) = (values[index], values[index + 1])
                let middle = start + field.byteCount
                let end = middle + value.byteCount
                if field.kind == .bulk, value.kind == .bulk {
                    read(.init(rebasing: text[start..<middle]), .init(rebasing: text[middle..<end]))
                }
                start = end
            }
        }
    }

    /// What a subscriber is sent, for classic and for sharded channels.
    enum Push {
        case message, subscribed, unsubscribed
    }

    /// Reads the reply as what a subscriber is sent: a word, a channel, and a payload or a number, whose text is empty.
    /// `nil` for any other reply.
    var push: (kind: Push, channel: ByteBuffer, payload: ByteBuffer)? {
        guard values.count == 4, values[0].kind == .array, values[1].kind == .bulk, values[2].kind == .bulk else {
            return nil
        }
        let kind: Push
        // The length tells the words apart: with a leading `s` for sharded channels, they are longer by one.
        switch values[1].number {
        case 7, 8: kind = .message
        case 9, 10: kind = .subscribed
        case 11, 12: kind = .unsubscribed
        default: return nil
        }
        var (channel, payload) = (text, text)
        let start = text.readerIndex + values[1].byteCount
        let end = start + values[2].byteCount
        channel.moveReaderIndex(to: start)
        channel.moveWriterIndex(to: end)
        payload.moveReaderIndex(to: end)
        return (kind, channel, payload)
    }

    /// The reply as a tree.
    var tree: RedisValue {
        var place = (value: 0, byte: 0)
        return text.withUnsafeReadableBytes { tree(at: &place, in: $0) }
    }

    private func tree(at place: inout (value: Int, byte: Int), in text: UnsafeRawBufferPointer) -> RedisValue {
        let value = values[place.value]
        let bytes = text[place.byte..<place.byte + value.byteCount]
        place = (place.value + 1, bytes.endIndex)
        switch value.kind {
        case .status: return .status(ByteString(decoding: bytes))
        case .error: return .error(ByteString(decoding: bytes))
        case .integer: return .integer(value.number)
        case .bulk: return .bulk(Array(bytes))
        case .array: return .array((0..<value.number).map { _ in tree(at: &place, in: text) })
        case .null: return .null
        }
    }
}

extension ByteBuffer {
    /// Empties the buffer. Keeps its memory for the next use, unless its capacity exceeds `limit`.
    mutating func clear(atMost limit: Int) {
        if capacity > limit { self = ByteBuffer() } else { clear() }
    }
}

/// A reply of Redis as a tree, or an element of one. Bulk strings stay bytes; callers decide which of them are text.
public enum RedisValue: Hashable, Sendable {
    /// A short word such as `OK`.
    case status(ByteString)
    /// The line of an error inside an array. An error as the whole reply fails the command instead.
    case error(ByteString)
    case integer(Int64)
    case bulk([UInt8])
    case array([RedisValue])
    case null
}

extension RedisValue {
    /// The text of a bulk string or a status; `nil` for other values, and for bytes that are not valid UTF-8.
    public var text: ByteString? {
        switch self {
        case .bulk(let bytes): ByteString(validating: bytes)
        case .status(let text): text
        case .error, .integer, .array, .null: nil
        }
    }

    /// As ``text``, but with U+FFFD for what is not valid UTF-8: of a field that any program may have written.
    var readable: ByteString? {
        if case .bulk(let bytes) = self { ByteString(decoding: bytes) } else { text }
    }

    /// A number within ±2^53: an integer, or a bulk string with the decimal form of one, as hashes and sorted sets contain.
    public var integer: Int64? {
        switch self {
        case .integer(let number): number.bounded
        case .bulk, .status: text.flatMap { Int64(decimal: $0) }
        case .error, .array, .null: nil
        }
    }

    /// About as many bytes as Redis has sent.
    var byteCount: Int {
        switch self {
        case .bulk(let bytes): bytes.count + 8
        case .array(let elements): elements.reduce(8) { $0 + $1.byteCount }
        case .status, .error, .integer, .null: 8
        }
    }

    public var array: [RedisValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    public var isNull: Bool { self == .null }
}
