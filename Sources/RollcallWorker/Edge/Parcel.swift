// What a tick has for a socket, in one piece. Most sockets of a room are sent the same frames in a tick, so they share
// one parcel, which is put together once.

import NIOCore

/// One or more frames that go to a socket together, in order.
///
/// Belongs to its event loop, and lives for a tick.
final class Parcel {
    /// How many bytes all frames are.
    let count: Int

    private let frame: ServerFrame
    private let before: Parcel?
    /// What it became for the last socket that was sent something more; kept by those sockets.
    private weak var extended: Parcel?
    private var joined: ByteBuffer?

    init(_ frame: ServerFrame, after before: Parcel? = nil) {
        self.frame = frame
        self.before = before
        count = frame.count + (before?.count ?? 0)
    }

    /// Whether it ends with this very frame, in the same memory.
    func ends(with frame: ServerFrame) -> Bool {
        self.frame.isSame(as: frame)
    }

    /// This and one frame more.
    func adding(_ frame: ServerFrame) -> Parcel {
        if let extended, extended.ends(with: frame) { return extended }
        let parcel = Parcel(frame, after: self)
        extended = parcel
        return parcel
    }

    /// All frames, one after the other.
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
