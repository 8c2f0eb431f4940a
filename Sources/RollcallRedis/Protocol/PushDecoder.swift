// What comes on a subscriber's connection: always an array of two or three fields, or one line. They are read flat,
// into one buffer that serves again and again, which costs half of what a tree does.

import CHiredis
import NIOCore
import RollcallModel

/// What Redis sends to a subscriber, of channels that all its nodes share or of those that lie in slots.
enum Push: Hashable {
    case message(channel: ByteBuffer, payload: ByteBuffer)
    case subscribed(channel: ByteBuffer)
    case unsubscribed(channel: ByteBuffer)
    case pong
    /// The answer to a command that is not about subscriptions, such as `AUTH`.
    case status
    case failed(RedisServerError)
}

/// Reads each push into a ``Push``, whose bytes are copied only if somebody keeps them until the next.
struct PushDecoder: ReplyDecoder {
    private enum Kind {
        case message, subscribe, unsubscribe, pong
    }

    /// How many fields the array has that is being read; 0 outside of one.
    private var fields = 0
    /// How many of them have come.
    private var index = 0
    private var kind = Kind.pong
    /// The channel, and after it the payload.
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

    /// The number of subscriptions that the connection has now: the last field of a confirmation.
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
