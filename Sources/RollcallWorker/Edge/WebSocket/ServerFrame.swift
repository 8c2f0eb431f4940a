// What a worker sends, as finished bytes: header and payload of a WebSocket frame, built once and shared by every
// socket that it goes to.

import NIOCore
package import RollcallModel

/// One or more finished WebSocket frames from server to client, which are not masked.
package struct ServerFrame: Sendable {
    /// The frames as they go over the wire.
    let bytes: ByteBuffer

    private init(finished bytes: ByteBuffer) {
        self.bytes = bytes
    }

    /// A text message in one frame.
    ///
    /// - Parameter text: UTF-8, which is not checked.
    init(text: some Collection<UInt8>) {
        self.init(.text, capacity: text.count) { $0.writeBytes(text) }
    }

    /// A text message in one frame, whose UTF-8 is written straight into its place.
    ///
    /// - Parameters:
    ///   - capacity: about how long the text will be.
    ///   - write: appends the text to a buffer that is empty at first.
    init(textOf capacity: Int, write: (inout ByteBuffer) -> Void) {
        self.init(.text, capacity: capacity, write: write)
    }

    /// A message in one frame, written straight into its place.
    package init(_ message: ServerMessage) {
        let size = message.jsonSize
        self.init(textOf: size) { text in
            text.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { message.writeJSON(to: $0) }
        }
    }

    /// Several frames, one after the other, as one piece of memory: what a tick has for the same sockets.
    init(joining frames: some Collection<ServerFrame>) {
        var bytes = ByteBufferAllocator().buffer(capacity: frames.reduce(0) { $0 + $1.count })
        for frame in frames {
            bytes.writeImmutableBuffer(frame.bytes)
        }
        self.init(finished: bytes)
    }

    /// Whether it is this very frame, in the same memory.
    func isSame(as other: ServerFrame) -> Bool {
        bytes.withUnsafeReadableBytes { own in
            other.bytes.withUnsafeReadableBytes { own.baseAddress == $0.baseAddress && own.count == $0.count }
        }
    }

    /// How many bytes go over the wire.
    var count: Int { bytes.readableBytes }

    static let ping = ServerFrame(.ping, capacity: 0) { _ in }

    static func pong(_ payload: [UInt8]) -> ServerFrame {
        ServerFrame(.pong, capacity: payload.count) { $0.writeBytes(payload) }
    }

    /// A close frame.
    ///
    /// - Parameters:
    ///   - code: nil answers a close frame that had none.
    ///   - reason: for a developer to read; shortened to what a control frame holds.
    static func close(_ code: CloseCode?, reason: String = "") -> ServerFrame {
        ServerFrame(.close, capacity: reason.utf8.count + 2) { payload in
            guard let code else { return }
            payload.writeInteger(code.rawValue)
            var room = Opcode.controlLimit - 2
            for character in reason {
                room -= character.utf8.count
                guard room >= 0 else { return }
                payload.writeString(String(character))
            }
        }
    }
}

extension ServerFrame {
    private static let longestHeader = 10

    /// Lets `write` put the payload behind room for the longest header, and the header that it turns out to need
    /// right before it.
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
