// The data that a tick writes to a socket, in one piece. Most sockets of a room receive the same frames in a tick, so
// they share one parcel, which is built once.

import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One or more frames that go to a socket together, in order.
///
/// Use on one event loop only; lives for one tick.
final class Parcel {
    /// The total size in bytes.
    let count: Int

    private let frame: ServerFrame
    private let before: Parcel?
    /// This parcel plus one more frame, as built for the last socket that needed it; kept alive by those sockets.
    private weak var extended: Parcel?
    private var joined: ByteBuffer?

    init(_ frame: ServerFrame, after before: Parcel? = nil) {
        self.frame = frame
        self.before = before
        count = frame.count + (before?.count ?? 0)
    }

    /// Whether the last frame is this one, in the same memory.
    func ends(with frame: ServerFrame) -> Bool {
        self.frame.isSame(as: frame)
    }

    /// Returns this parcel plus one frame.
    func adding(_ frame: ServerFrame) -> Parcel {
        if let extended, extended.ends(with: frame) { return extended }
        let parcel = Parcel(frame, after: self)
        extended = parcel
        return parcel
    }

    /// All frames in order.
    var bytes: ByteBuffer {
        guard before != nil else { return frame.bytes }
        if let joined { return joined }
        let bytes = ServerFrame(joining: frames).bytes
        joined = bytes
        return bytes
    }

    private var frames: [ServerFrame] {
        var (frames, parcel) = ([ServerFrame](), Optional(self))
        while let last = parcel {
            frames.append(last.frame)
            parcel = last.before
        }
        return frames.reversed()
    }
}

/// Calls the system's `send`, outside types that have a method of that name.
func handOver(_ bytes: UnsafeRawBufferPointer, to socket: NIOBSDSocket.Handle) -> Int {
    #if canImport(Darwin)
        send(socket, bytes.baseAddress, bytes.count, 0)  // NIO has asked for no SIGPIPE on this socket.
    #else
        send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
}
