// Command replies in flat form, in memory that is reused. Bulk reads decode directly from it; other callers convert a
// reply to a tree.

import CHiredis

/// A reply with its values in the order of arrival: an array precedes its elements.
struct FlatReply: Hashable {
    fileprivate enum Kind: UInt8 {
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

    /// Whether the reply exceeded the size limit. It then has no values.
    fileprivate(set) var isOversized = false
    private var values: [Value] = []
    /// The bytes of all texts, concatenated.
    private var text: [UInt8] = []

    /// The error, if the whole reply is one.
    var error: RedisServerError? {
        values.first?.kind == .error ? RedisServerError(String(decoding: text, as: UTF8.self)) : nil
    }

    /// Reads a hash from a reply to `HGETALL`. Values that are not bulk strings are skipped.
    func forEachField(_ read: (_ field: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        text.withUnsafeBytes { text in
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

    /// The reply as a tree; null if the reply exceeded the size limit.
    var tree: RedisValue {
        guard !isOversized else { return .null }
        var place = (value: 0, byte: 0)
        return tree(at: &place)
    }

    private func tree(at place: inout (value: Int, byte: Int)) -> RedisValue {
        let value = values[place.value]
        let bytes = text[place.byte..<place.byte + value.byteCount]
        place = (place.value + 1, bytes.endIndex)
        switch value.kind {
        case .status: return .status(String(decoding: bytes, as: UTF8.self))
        case .error: return .error(RedisServerError(String(decoding: bytes, as: UTF8.self)))
        case .integer: return .integer(value.number)
        case .bulk: return .bulk(Array(bytes))
        case .array: return .array((0..<value.number).map { _ in tree(at: &place) })
        case .null: return .null
        }
    }

    fileprivate mutating func add(_ kind: Kind, _ number: Int64 = 0) {
        values.append(Value(kind: kind, number: number))
    }

    fileprivate mutating func add(_ kind: Kind, _ bytes: UnsafeRawBufferPointer) {
        values.append(Value(kind: kind, number: Int64(bytes.count)))
        text.append(contentsOf: bytes)
    }

    /// Keeps the memory for the next reply, unless it has grown large.
    fileprivate mutating func clear() {
        isOversized = false
        values.removeAll(keepingCapacity: values.capacity <= 4096)
        text.removeAll(keepingCapacity: text.capacity <= 64 * 1024)
    }
}

/// Decodes each reply into a ``FlatReply``. Its bytes are copied only if a caller keeps it beyond the next reply.
struct FlatDecoder: ReplyDecoder {
    private var reply = FlatReply()
    /// Whether the reply was taken, so that the next value starts a new one.
    private var isTaken = false

    nonisolated(unsafe) static let functions = makeFunctions {
        $0.createString = { FlatDecoder.createString($0, $1, $2) }
        $0.createArray = { FlatDecoder.createArray($0, Int($1)) }
        $0.createInteger = { FlatDecoder.createInteger($0, Int64($1)) }
        $0.createNil = { FlatDecoder.createNull($0) }
    }

    mutating func status(_ bytes: UnsafeRawBufferPointer) -> Bool { lay { $0.add(.status, bytes) } }
    mutating func error(_ bytes: UnsafeRawBufferPointer) -> Bool { lay { $0.add(.error, bytes) } }
    mutating func bulk(_ bytes: UnsafeRawBufferPointer) -> Bool { lay { $0.add(.bulk, bytes) } }
    mutating func integer(_ number: Int64) -> Bool { lay { $0.add(.integer, number) } }
    mutating func null() -> Bool { lay { $0.add(.null) } }
    mutating func array(count: Int) -> Bool { lay { $0.add(.array, Int64(count)) } }

    mutating func takeReply() -> FlatReply {
        isTaken = true
        return reply
    }

    static let skipsOversized = true

    mutating func takeOversized() -> FlatReply {
        reply.clear()
        reply.isOversized = true
        return takeReply()
    }

    private mutating func lay(_ value: (inout FlatReply) -> Void) -> Bool {
        if isTaken { reply.clear() }
        isTaken = false
        value(&reply)
        return true
    }
}
