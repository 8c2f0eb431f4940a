// State shared by the connections of one event loop: the shard, a buffer, the list to flush at the end of the tick, and
// one sweep for pings, slow readers and deadlines.

import Logging
import NIOCore
import NIOSSL
import RollcallCore
import RollcallListener
import RollcallModel
import RollcallShards

/// The edge on one event loop. Use on that loop only.
final class EdgeLoop {
    let eventLoop: any EventLoop
    let settings: EdgeSettings
    let handshake: Handshake
    let proxies: TrustedProxies
    /// Whether TLS is terminated here.
    let isEncrypted: Bool
    let sessions: SessionCount
    /// `nil` if addresses are not limited.
    let addresses: AddressLimits?
    let shard: any EdgeShard
    let logger: Logger

    private var scratch = ByteBuffer()
    private var receiver = ByteBuffer()
    private var unflushed: [EdgeConnection] = []
    private var flushing: [EdgeConnection] = []
    /// The last parcel that was started with a single frame.
    private var lastParcel: Parcel?
    /// The last message that was encoded, for its other receivers.
    private var lastFrame: (number: Int, frame: ServerFrame)?

    var clock: AwakeClock
    var rota: PingRota<EdgeConnection>
    var beat: Scheduled<Void>?
    var isStopped = false
    /// The counts so far.
    var tally = EdgeTally()
    var limitCounts = LimitCounts()
    /// Connections that did not begin with an HTTP request.
    var noHTTP = RepeatedProblem()
    /// Connections that are not sessions, and connections that are backed up, in order of entering that state.
    var waiting: [Waiting] = []
    var backlogs: [Backlog] = []

    /// Create it on `eventLoop`. The sweep runs until ``stop()``.
    init(
        on eventLoop: any EventLoop, settings: EdgeSettings, sessions: SessionCount, addresses: AddressLimits? = nil,
        shard: any EdgeShard, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.settings = settings
        self.sessions = sessions
        self.addresses = addresses
        self.shard = shard
        self.logger = logger
        handshake = Handshake(
            origins: OriginPolicy(
                origins: settings.origins, listeningOn: settings.host, trustsTokens: settings.trustsTokens))
        proxies = TrustedProxies(settings.trustedProxies)
        isEncrypted = settings.tls != nil
        clock = AwakeClock(interval: settings.beat, at: eventLoop.now)
        rota = PingRota(bands: settings.beats)
        scheduleBeat()
        shard.serves(self)
    }

    /// Starts the handshake on a new channel of this loop.
    func accept(_ channel: any Channel) throws {
        guard !isStopped else {
            tally.refused.count(.busy)
            throw Stopped()
        }
        makeRoom()
        if let tls = settings.tls {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context))
        }
        let handler = try HandshakeHandler.begin(on: channel, of: self)
        waiting.append(Waiting(.handshake(handler, until: clock.awake + settings.handshake)))
    }

    /// The largest message buffer that a loop keeps. Larger messages are rare and get a new buffer.
    static let mostScratch = 64 * 1024

    /// Lends the empty message buffer. While it is lent, other callers get a new one.
    func lendScratch() -> ByteBuffer {
        var lent = scratch
        scratch = ByteBuffer()
        lent.clear()
        return lent
    }

    func returnScratch(_ buffer: ByteBuffer) {
        if (scratch.storageCapacity...Self.mostScratch).contains(buffer.storageCapacity) { scratch = buffer }
    }

    /// Lends the receive buffer. If it is not returned, because there was nothing to read, it is replaced.
    func lendReceiver() -> ByteBuffer {
        var lent = receiver
        receiver = ByteBuffer()
        lent.clear(minimumCapacity: SharedBuffer.size)
        return lent
    }

    func returnReceiver(_ buffer: ByteBuffer) {
        if buffer.storageCapacity >= SharedBuffer.size { receiver = buffer }
    }
}

/// The loop accepts no more connections; the channel is closed.
private struct Stopped: Error {}

// Flushing. All data that a tick writes to a socket goes out together at the end of the tick, after NIO has read all
// pending input.
extension EdgeLoop {
    /// Schedules a flush of the connection at the end of this tick.
    func flushSoon(_ connection: EdgeConnection) {
        guard !connection.awaitsFlush else { return }
        connection.awaitsFlush = true
        unflushed.append(connection)
        guard unflushed.count == 1 else { return }
        eventLoop.assumeIsolated().execute { self.flush() }
    }

    /// Returns the parcel with one more frame. The first frame for most sockets is the one that the last socket was
    /// sent.
    func parcel(_ parcel: Parcel?, adding frame: ServerFrame) -> Parcel {
        if let parcel { return parcel.adding(frame) }
        if let lastParcel, lastParcel.ends(with: frame) { return lastParcel }
        let first = Parcel(frame)
        lastParcel = first
        return first
    }

    /// Returns a message as a frame, which is built once for all its receivers.
    func frame(of delivery: Delivery) -> ServerFrame {
        if let lastFrame, lastFrame.number == delivery.number { return lastFrame.frame }
        let frame = ServerFrame(delivery.message)
        lastFrame = (delivery.number, frame)
        return frame
    }

    private func flush() {
        (lastParcel, lastFrame) = (nil, nil)
        swap(&unflushed, &flushing)
        for connection in flushing {
            connection.flush()
        }
        flushing.removeAll(keepingCapacity: true)
    }
}
