// The frames of one client, taken apart as they arrive, in pieces of any size. A value: bytes in, events out. It checks
// everything that RFC 6455 asks of a client, as early as it can be known, and holds nothing between messages.

package import NIOCore
package import RollcallModel

/// Decodes what a client sends on a WebSocket.
///
/// After it has thrown, the stream has no meaning any more and the decoder must not be fed again.
package struct WebSocketDecoder {
    package enum Event: Hashable {
        /// A whole text message, valid UTF-8: it stands in the caller's message buffer.
        case text
        /// A part of a message whose rest is to come.
        case fragment
        case ping([UInt8])
        case pong
        /// The peer closes; nil if it gives no code.
        case close(CloseCode?)
    }

    private enum Stage: UInt8 {
        case opcode, length, extendedLength, mask, payload
    }

    /// How many empty parts a message may have before its last. Libraries send one at most; a flood of them would never
    /// reach the limit of a message's bytes.
    package static let mostEmptyFragments: UInt8 = 16

    /// The longest message, all its fragments together. What it is set to holds from the next frame on.
    var limit: Int
    private var stage = Stage.opcode
    private var opcode = Opcode.continuation
    private var isFinal = false
    /// Whether a message has begun whose last fragment has not come.
    private var isFragmented = false
    /// Bytes that the field of the header in progress still lacks.
    private var missing: UInt8 = 0
    /// How many parts of the message in progress were empty.
    private var emptyFragments: UInt8 = 0
    private var utf8 = UTF8Validator()
    /// The smallest length that the size of its field is for.
    private var leastLength: UInt64 = 0
    /// The mask, turned so that its highest byte is the one for the next byte of payload.
    private var mask: UInt32 = 0
    /// What the payload of this frame still lacks.
    private var length: UInt64 = 0
    /// The payload of the control frame in progress, which may stand between two fragments.
    private var control: [UInt8] = []

    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether a message has begun and not ended. Otherwise a later call needs nothing of the message buffer.
    var isWithinMessage: Bool { isFragmented || stage != .opcode && !opcode.isControl }

    /// Decodes up to the next event.
    ///
    /// - Parameters:
    ///   - input: what has arrived; read as far as it could be understood.
    ///   - message: the text of the message in progress. Lent by the caller, so that connections may share one buffer
    ///     between messages; within a message (``isWithinMessage``) it must hold what it held after the last call.
    /// - Returns: nil when the input is used up.
    package mutating func next(
        _ input: inout ByteBuffer, message: inout ByteBuffer
    ) throws(WebSocketViolation) -> Event? {
        while stage == .payload || input.readableBytes > 0 {
            switch stage {
            case .opcode:
                try begin(input.readInteger() ?? 0, message: &message)
            case .length:
                try measure(input.readInteger() ?? 0, held: message.readableBytes)
            case .extendedLength:
                length = length << 8 | UInt64(input.readInteger(as: UInt8.self) ?? 0)
                missing -= 1
                if missing == 0 { try measured(least: leastLength, held: message.readableBytes) }
            case .mask:
                mask = mask << 8 | UInt32(input.readInteger(as: UInt8.self) ?? 0)
                missing -= 1
                if missing == 0 { stage = .payload }
            case .payload:
                try readPayload(&input, message: &message)
                guard length == 0 else { return nil }
                stage = .opcode
                if let event = try end() { return event }
            }
        }
        return nil
    }
}

// The header, field by field.
extension WebSocketDecoder {
    private mutating func begin(_ byte: UInt8, message: inout ByteBuffer) throws(WebSocketViolation) {
        guard byte & 0x70 == 0 else { throw .reservedBits }
        guard let opcode = Opcode(rawValue: byte & 0x0F) else { throw .unknownOpcode }
        self.opcode = opcode
        isFinal = byte & 0x80 != 0
        switch opcode {
        case .text:
            guard !isFragmented else { throw .messageWithinMessage }
            message.clear()
            emptyFragments = 0
            utf8 = UTF8Validator()
        case .continuation:
            guard isFragmented else { throw .continuationOfNothing }
        case .binary:
            throw .binary
        case .close, .ping, .pong:
            guard isFinal else { throw .fragmentedControl }
        }
        stage = .length
    }

    /// - Parameter held: how much of the message the fragments before this frame hold.
    private mutating func measure(_ byte: UInt8, held: Int) throws(WebSocketViolation) {
        guard byte & 0x80 != 0 else { throw .unmasked }
        switch byte & 0x7F {
        case 126: try expectLength(bytes: 2, least: 126)
        case 127: try expectLength(bytes: 8, least: 0x1_0000)
        case let length:
            self.length = UInt64(length)
            try measured(least: 0, held: held)
        }
    }

    private mutating func expectLength(bytes: UInt8, least: UInt64) throws(WebSocketViolation) {
        guard !opcode.isControl else { throw .longControl }
        length = 0
        missing = bytes
        leastLength = least
        stage = .extendedLength
    }

    private mutating func measured(least: UInt64, held: Int) throws(WebSocketViolation) {
        guard length >= least else { throw .lengthNotMinimal }
        guard opcode.isControl || length <= UInt64(max(0, limit - held)) else { throw .tooBig }
        if length == 0, !isFinal {
            guard emptyFragments < Self.mostEmptyFragments else { throw .emptyFragments }
            emptyFragments += 1
        }
        missing = 4
        stage = .mask
    }
}

// The payload, and what a frame means once it is whole.
extension WebSocketDecoder {
    private mutating func readPayload(
        _ input: inout ByteBuffer, message: inout ByteBuffer
    ) throws(WebSocketViolation) {
        let count = Int(min(length, UInt64(input.readableBytes)))
        guard count > 0 else { return }
        guard !opcode.isControl else { return readControl(&input, count: count) }
        // Grows with what has arrived, not with what the header promises.
        var isText = true
        message.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
            let target = UnsafeMutableRawBufferPointer(rebasing: target[..<count])
            input.readWithUnsafeReadableBytes { source in
                unmask(UnsafeRawBufferPointer(rebasing: source[..<count]), into: target)
                return count
            }
            isText = utf8.accept(UnsafeRawBufferPointer(target))
            return count
        }
        guard isText else { throw .notUTF8 }
    }

    private mutating func readControl(_ input: inout ByteBuffer, count: Int) {
        for _ in 0..<count {
            control.append((input.readInteger() ?? 0) ^ turnMask())
        }
        length -= UInt64(count)
    }

    /// Copies payload to where it belongs, by words while it lasts.
    private mutating func unmask(_ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
        let word = UInt64(mask.bigEndian) << 32 | UInt64(mask.bigEndian)
        var index = 0
        while index + 8 <= source.count {
            let bytes = source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            target.storeBytes(of: bytes ^ word, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < source.count {
            target[index] = source[index] ^ turnMask()
            index += 1
        }
        length -= UInt64(source.count)
    }

    /// The mask for the next byte.
    private mutating func turnMask() -> UInt8 {
        mask = mask << 8 | mask >> 24
        return UInt8(truncatingIfNeeded: mask)
    }

    private mutating func end() throws(WebSocketViolation) -> Event? {
        switch opcode {
        case .text, .continuation, .binary:
            isFragmented = !isFinal
            guard isFinal else { return .fragment }
            guard utf8.isComplete else { throw .notUTF8 }
            return .text
        case .ping: return .ping(takeControl())
        case .pong:
            control = []
            return .pong
        case .close: return .close(try closeCode(takeControl()))
        }
    }

    private mutating func takeControl() -> [UInt8] {
        defer { control = [] }
        return control
    }

    private func closeCode(_ payload: [UInt8]) throws(WebSocketViolation) -> CloseCode? {
        if payload.isEmpty { return nil }
        guard payload.count >= 2 else { throw .badClosePayload }
        let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.mayBeSent else { throw .badClosePayload }
        var reason = UTF8Validator()
        guard payload[2...].withUnsafeBytes({ reason.accept($0) }), reason.isComplete else { throw .notUTF8 }
        return code
    }
}

extension CloseCode {
    /// Whether an endpoint may put this code on the wire: those of RFC 6455 and of its registry, and those that
    /// libraries and applications give a meaning to.
    fileprivate var mayBeSent: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
