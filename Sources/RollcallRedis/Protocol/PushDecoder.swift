// Input of a subscriber connection: an array of two or three fields, or one line. It is decoded into one reused buffer,
// which costs half as much as a tree.

import CHiredis
import NIOCore
import RollcallModel

/// Input of a subscriber connection, for classic and for sharded channels.
enum Push: Hashable {
    case message(channel: ByteBuffer, payload: ByteBuffer)
    case subscribed(channel: ByteBuffer)
    case unsubscribed(channel: ByteBuffer)
    case pong
    /// The reply to a command that does not concern subscriptions, such as `AUTH`.
    case status
    case failed(RedisServerError)
}

/// Decodes the input into ``Push`` values. Their bytes are copied only if a caller keeps them beyond the next one.
struct PushDecoder: ReplyDecoder {
    private enum Kind {
        case message, subscribe, unsubscribe, pong
    }

    /// The number of fields of the current array; 0 outside of one.
    private var fields = 0
    /// How many of them have arrived.
    private var index = 0
    private var kind = Kind.pong
    /// The channel, followed by the payload.
    private var text = ByteBuffer()
    private var channelBytes = 0
    private var finished: Push?

    nonisolated(unsafe) static let functions = makeFunctions {
        $0.createString = { PushDecoder.createString($0, $1, $2) }
        $0.createArray = { PushDecoder.createArray($0, Int($1)) }
        $0.createInteger = { PushDecoder.createInteger($0, Int64($1)) }
        $0.createNil = { PushDecoder.createNull($0) }
    }

    mutating func array(count: Int) -> Bool {
        guard fields == 0, count == 2 || count == 3 else { return false }
        fields = count
        index = 0
        text.clear(atMost: 64 * 1024)
        return true
    }

    mutating func bulk(_ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { index += 1 }
        switch index {
        case _ where fields == 0: return false
        case 0: return begin(bytes)
        case 1:
            channelBytes = bytes.count
            text.writeBytes(bytes)
            if kind == .pong { finish(.pong) }
            return true
        default:
            guard kind == .message else { return false }
            text.writeBytes(bytes)
            finish(.message(channel: channel, payload: payload))
            return true
        }
    }

    /// The connection's number of subscriptions: the last field of a confirmation.
    mutating func integer(_ number: Int64) -> Bool {
        guard fields == 3, index == 2 else { return false }
        switch kind {
        case .subscribe: finish(.subscribed(channel: channel))
        case .unsubscribe: finish(.unsubscribed(channel: channel))
        case .message, .pong: return false
        }
        return true
    }

    mutating func null() -> Bool { false }

    mutating func status(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard fields == 0 else { return false }
        finish(.status)
        return true
    }

    mutating func error(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard fields == 0 else { return false }
        finish(.failed(RedisServerError(String(decoding: bytes, as: UTF8.self))))
        return true
    }

    static let skipsOversized = false

    mutating func takeOversized() -> Push { preconditionFailure("no push is passed over") }

    mutating func takeReply() -> Push {
        guard let push = finished.take() else { preconditionFailure("no push has been completed") }
        return push
    }

    private mutating func begin(_ word: UnsafeRawBufferPointer) -> Bool {
        if word.spells("message") || word.spells("smessage") {
            kind = .message
        } else if word.spells("subscribe") || word.spells("ssubscribe") {
            kind = .subscribe
        } else if word.spells("unsubscribe") || word.spells("sunsubscribe") {
            kind = .unsubscribe
        } else if word.spells("pong") {
            kind = .pong
        } else {
            return false
        }
        return fields == (kind == .pong ? 2 : 3)
    }

    private mutating func finish(_ push: Push) {
        finished = push
        fields = 0
    }

    private var channel: ByteBuffer {
        var channel = text
        channel.moveWriterIndex(to: channelBytes)
        return channel
    }

    private var payload: ByteBuffer {
        var payload = text
        payload.moveReaderIndex(to: channelBytes)
        return payload
    }
}
