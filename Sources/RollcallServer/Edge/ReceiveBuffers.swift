// Receive buffers. NIO keeps a channel's first buffer for the channel's lifetime, even if it is never used again. Idle
// connections should hold no memory for receiving.

import NIOCore

/// A small new buffer for each read: for handshakes, for clients that are not authenticated yet, and for data that TLS
/// must decrypt.
struct FreshBuffers: RecvByteBufferAllocator {
    /// The size of the first buffer, which NIO keeps.
    private static let first = 16
    private static let further = 512

    private var hasRead = false

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: hasRead ? Self.further : Self.first)
    }

    /// Requests a new buffer each time: NIO would reuse the first one if none is larger.
    mutating func record(actualReadBytes: Int) -> Bool {
        hasRead = true
        return true
    }
}

/// One buffer for all WebSockets of an event loop, lent for one read at a time.
struct SharedBuffer: RecvByteBufferAllocator {
    static let size = 16 * 1024

    let loop: NIOLoopBound<EdgeLoop>

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        loop.value.lendReceiver()
    }

    /// Requested anew each time, as above.
    func record(actualReadBytes: Int) -> Bool { true }
}
