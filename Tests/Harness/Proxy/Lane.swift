// One direction of a tunnel: a queue between two sockets that forwards bytes as its `Weather` allows.

internal import NIOCore

/// Forwards bytes from one channel to another. Used on one event loop only.
final class Lane {
    private enum Item {
        case bytes(ByteBuffer)
        case end
    }

    /// The most bytes that may wait before the lane stops reading. Further data fills the buffers of the kernel and
    /// then of the sender, as with a slow reader.
    private static let most = 1 << 20

    private var source: (any Channel)?
    private var target: (any Channel)?
    private var waiting = CircularBuffer<(item: Item, arrived: NIODeadline)>()
    private(set) var waitingBytes = 0
    private(set) var lostBytes = 0
    private var hasEnded = false
    private var alarm: Scheduled<Void>?

    var weather: Weather {
        didSet { pump() }
    }

    init(_ weather: Weather) {
        self.weather = weather
    }

    func comes(from source: any Channel) {
        self.source = source
        readMore()
    }

    func goes(to target: any Channel) {
        self.target = target
        pump()
    }

    func received(_ bytes: ByteBuffer) {
        guard !hasEnded else { return }
        guard weather != .lossy else { return lostBytes += bytes.readableBytes }
        waitingBytes += bytes.readableBytes
        waiting.append((.bytes(bytes), .now()))
        pump()
    }

    /// The source has sent its last byte.
    func ended() {
        guard !hasEnded else { return }
        hasEnded = true
        if weather != .lossy { waiting.append((.end, .now())) }
        pump()
    }

    /// The source is closed.
    func sourceClosed() {
        source = nil
        ended()
    }

    /// The target is closed: waiting bytes are dropped.
    func targetClosed() {
        target = nil
        waiting.removeAll()
        waitingBytes = 0
        alarm?.cancel()
    }

    func readMore() {
        if waitingBytes < Self.most { source?.read() }
    }

    /// Forwards everything that is due.
    func pump() {
        guard let target else { return }
        let wasFull = waitingBytes >= Self.most
        while let first = waiting.first, target.isWritable, mayPass(first.arrived) {
            waiting.removeFirst()
            switch first.item {
            case .bytes(let bytes):
                waitingBytes -= bytes.readableBytes
                target.writeAndFlush(bytes, promise: nil)
            case .end:
                if source == nil { target.close(promise: nil) } else { target.close(mode: .output, promise: nil) }
            }
        }
        if wasFull { readMore() }
    }

    private func mayPass(_ arrived: NIODeadline) -> Bool {
        switch weather {
        case .clear, .refusing: return true
        case .stalled, .lossy: return false
        case .slow(let delay):
            let due = arrived + TimeAmount(delay)
            guard due > .now() else { return true }
            alarm?.cancel()
            alarm = target?.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [weak self] in self?.pump() }
            return false
        }
    }
}
