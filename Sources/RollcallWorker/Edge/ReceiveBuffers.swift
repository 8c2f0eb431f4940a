// What connections are read into. NIO keeps a channel's first buffer while the channel lives, although it need never be
// used again; an idle connection has nothing to receive and should hold no memory for it.

import NIOCore

/// A small buffer for each read, given away with what was read: for handshakes, for strangers whose token is not known
/// to be good, and for what TLS is to decrypt.
struct FreshBuffers: RecvByteBufferAllocator {
    /// The first, which stays: a word of the request.
    private static let first = 16
    private static let further = 512

    private var hasRead = false

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: hasRead ? Self.further : Self.first)
    }

    /// Another one each time: NIO would use the first again where none that comes may be larger.
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

    /// Asked for anew each time, as above.
    func record(actualReadBytes: Int) -> Bool { true }
}
