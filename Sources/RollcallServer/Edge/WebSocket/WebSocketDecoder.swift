// Decodes a client's WebSocket frames in pieces of any size: bytes in, events out. It checks every rule of RFC 6455 for
// clients as early as possible, and holds nothing between messages.

package import NIOCore
package import RollcallProtocol

/// Decodes what a client sends on a WebSocket.
///
/// After it throws, do not call it again.
package struct WebSocketDecoder {
    package enum Event: Hashable {
        /// A complete text message, valid UTF-8, in the caller's message buffer.
        case text
        /// A part of an incomplete message.
        case fragment
        case ping([UInt8])
        case pong
        /// The peer closes; `nil` if it gives no code.
        case close(CloseCode?)
    }

    private enum Stage: UInt8 {
        case opcode, length, extendedLength, mask, payload
    }

    /// How many empty fragments a message may have before its last. Libraries send at most one. A flood of them would
    /// never reach the size limit.
    ///
    /// Limit: empty fragments of a message. The next one closes the connection with 1002.
    package static let mostEmptyFragments: UInt8 = 16

    /// The longest message, over all its fragments. Changes apply from the next frame.
    var limit: Int
    private var stage = Stage.opcode
    private var opcode = Opcode.continuation
    private var isFinal = false
    /// Whether a message has started whose last fragment has not arrived.
    private var isFragmented = false
    /// The missing bytes of the current header field.
    private var missing: UInt8 = 0
    /// How many fragments of the current message were empty.
    private var emptyFragments: UInt8 = 0
    private var utf8 = UTF8Validator()
    /// The smallest length that may use the current length field.
    private var leastLength: UInt64 = 0
    /// The mask, rotated so that its highest byte applies to the next payload byte.
    private var mask: UInt32 = 0
    /// The missing payload bytes of this frame.
    private var length: UInt64 = 0
    /// The payload of the current control frame, which may be between two fragments.
    private var control: [UInt8] = []

    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether a message has started and not ended. Otherwise the next call does not need the message buffer's
    /// contents.
    var isWithinMessage: Bool { isFragmented || stage != .opcode && !opcode.isControl }

    /// Decodes up to the next event.
    ///
    /// - Parameters:
    ///   - input: The input; consumed as far as it was decoded.
    ///   - message: The text of the current message. The caller lends it, so that connections can share one buffer
    ///     between messages. Within a message (``isWithinMessage``) it must keep its contents between calls.
    /// - Returns: `nil` when the input is used up.
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

    /// - Parameter held: The size of the message's earlier fragments.
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

// The payload, and the meaning of a complete frame.
extension WebSocketDecoder {
    private mutating func readPayload(
        _ input: inout ByteBuffer, message: inout ByteBuffer
    ) throws(WebSocketViolation) {
        let count = Int(min(length, UInt64(input.readableBytes)))
        guard count > 0 else { return }
        guard !opcode.isControl else { return readControl(&input, count: count) }
        // Grows with the received bytes, not with the length in the header.
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

    /// Copies and unmasks the payload, in whole words as far as possible.
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

    /// The mask of the next byte.
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
    /// Whether an endpoint may send this close code: the codes of RFC 6455 and its registry, and those for libraries
    /// and applications.
    fileprivate var mayBeSent: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

// MARK: Opcodes

// The types of WebSocket frames in RFC 6455.

/// The type of a WebSocket frame. All other numbers are reserved.
enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Control frames may appear between the fragments of a message. They are short and never fragmented.
    var isControl: Bool { rawValue >= 0x8 }

    /// The longest payload of a control frame.
    static let controlLimit = 125
}
