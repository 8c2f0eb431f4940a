// Outgoing frames as bytes: header and payload, encoded once and shared by all sockets that receive them.

import NIOCore
package import RollcallProtocol

/// One or more complete WebSocket frames from server to client, which are not masked.
package struct ServerFrame: Sendable {
    /// The frames as sent.
    let bytes: ByteBuffer

    init(finished bytes: ByteBuffer) {
        self.bytes = bytes
    }

    /// A text message in one frame.
    ///
    /// - Parameter text: UTF-8, which is not validated.
    init(text: some Collection<UInt8>) {
        self.init(.text, capacity: text.count) { $0.writeBytes(text) }
    }

    /// A text message in one frame, written directly into the frame.
    ///
    /// - Parameters:
    ///   - capacity: The approximate length of the text.
    ///   - write: Appends the text to an empty buffer.
    init(textOf capacity: Int, write: (inout ByteBuffer) -> Void) {
        self.init(.text, capacity: capacity, write: write)
    }

    /// A message in one frame, written directly into the frame.
    package init(_ message: ServerMessage) {
        let size = message.jsonSize
        self.init(textOf: size) { text in
            text.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { message.writeJSON(to: $0) }
        }
    }

    /// Several frames in one piece of memory, for sockets that receive the same data in a tick.
    init(joining frames: some Collection<ServerFrame>) {
        var bytes = ByteBufferAllocator().buffer(capacity: frames.reduce(0) { $0 + $1.count })
        for frame in frames {
            bytes.writeImmutableBuffer(frame.bytes)
        }
        self.init(finished: bytes)
    }

    /// Whether both are the same frame, in the same memory.
    func isSame(as other: ServerFrame) -> Bool {
        bytes.withUnsafeReadableBytes { own in
            other.bytes.withUnsafeReadableBytes { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }

    /// The number of bytes sent.
    var count: Int { bytes.readableBytes }

    static let ping = ServerFrame(.ping, capacity: 0) { _ in }

    static func pong(_ payload: [UInt8]) -> ServerFrame {
        ServerFrame(.pong, capacity: payload.count) { $0.writeBytes(payload) }
    }

    /// A close frame.
    ///
    /// - Parameters:
    ///   - code: `nil` answers a close frame without a code.
    ///   - reason: A text for developers; shortened to fit into a control frame.
    static func close(_ code: CloseCode?, reason: String = "") -> ServerFrame {
        ServerFrame(.close, capacity: reason.utf8.count + 2) { payload in
            guard let code else { return }
            payload.writeInteger(code.rawValue)
            payload.writeString(ByteString(reason).words(atMost: Opcode.controlLimit - 2))
        }
    }
}

extension ServerFrame {
    private static let longestHeader = 10

    /// Lets `write` put the payload after room for the longest header, then writes the actual header directly before
    /// it.
    private init(_ opcode: Opcode, capacity: Int, write: (inout ByteBuffer) -> Void) {
        var buffer = ByteBufferAllocator().buffer(capacity: Self.longestHeader + capacity)
        buffer.moveWriterIndex(to: Self.longestHeader)
        buffer.moveReaderIndex(to: Self.longestHeader)
        write(&buffer)
        let length = buffer.readableBytes
        let first = 0x80 | opcode.rawValue
        switch length {
        case ...125:
            buffer.moveReaderIndex(to: Self.longestHeader - 2)
            buffer.setInteger(first, at: buffer.readerIndex)
            buffer.setInteger(UInt8(length), at: buffer.readerIndex + 1)
        case ...0xFFFF:
            buffer.moveReaderIndex(to: Self.longestHeader - 4)
            buffer.setInteger(first, at: buffer.readerIndex)
            buffer.setInteger(UInt8(126), at: buffer.readerIndex + 1)
            buffer.setInteger(UInt16(length), at: buffer.readerIndex + 2)
        default:
            buffer.moveReaderIndex(to: 0)
            buffer.setInteger(first, at: 0)
            buffer.setInteger(UInt8(127), at: 1)
            buffer.setInteger(UInt64(length), at: 2)
        }
        self.init(finished: buffer)
    }
}

extension ByteString {
    /// As many whole words from the start as fit; a first word that is too long is cut.
    fileprivate func words(atMost count: Int) -> String {
        guard utf8.count > count else { return string }
        let start = ByteString(start(atMost: count))
        return start.cut(atLast: " ")?.before.string ?? start.string
    }
}
