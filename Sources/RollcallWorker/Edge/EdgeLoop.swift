// What the connections of one event loop share: the shard, a buffer, the list of those to flush at the end of the tick,
// and one sweep, which pings, watches slow readers and ends what has taken too long.

import Logging
import NIOCore
import NIOSSL
import RollcallModel

/// The edge on one event loop; belongs to it.
final class EdgeLoop {
    let eventLoop: any EventLoop
    let settings: EdgeSettings
    let handshake: Handshake
    let proxies: TrustedProxies
    /// Whether what connections say is encrypted here.
    let isEncrypted: Bool
    let sessions: SessionCount
    /// nil where no address is limited.
    let addresses: AddressLimits?
    let shard: any EdgeShard
    let logger: Logger

    private var scratch = ByteBuffer()
    private var receiver = ByteBuffer()
    private var unflushed: [EdgeConnection] = []
    private var flushing: [EdgeConnection] = []
    /// Of a single frame, the last that was begun.
    private var lastParcel: Parcel?

    var clock: AwakeClock
    var rota: PingRota<EdgeConnection>
    var beat: Scheduled<Void>?
    var isStopped = false
    /// What has happened so far.
    var tally = EdgeTally()
    var limitCounts = LimitCounts()
    /// Connections that are no session, and connections that are backed up, in the order in which they came to be so.
    var waiting: [Waiting] = []
    var backlogs: [Backlog] = []

    /// To be made on `eventLoop`; the sweep runs until ``stop()``.
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

    /// Begins the handshake on a new channel of this loop.
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
        let now = clock.awake
        waiting.append(Waiting(.handshake(handler, until: now + settings.handshake), since: now))
    }

    /// The largest buffer for messages that a loop keeps: larger messages than most clients ever send get a new one.
    static let mostScratch = 64 * 1024

    /// Lends the buffer in which messages are put together, empty. While it is out, another caller gets a new one.
    func lendScratch() -> ByteBuffer {
        var lent = scratch
        scratch = ByteBuffer()
        lent.clear()
        return lent
    }

    func returnScratch(_ buffer: ByteBuffer) {
        if (scratch.storageCapacity...Self.mostScratch).contains(buffer.storageCapacity) { scratch = buffer }
    }

    /// Lends the buffer that a socket is read into. One that does not come back, since there was nothing to read, is
    /// replaced.
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

/// The loop takes nobody any more; the channel is closed.
private struct Stopped: Error {}

// Flushing. What a tick writes to a socket goes out together at the end of that tick: whatever NIO has still to read in
// it is read first.
extension EdgeLoop {
    /// Lets the connection flush at the end of this tick.
    func flushSoon(_ connection: EdgeConnection) {
        guard !connection.awaitsFlush else { return }
        connection.awaitsFlush = true
        unflushed.append(connection)
        guard unflushed.count == 1 else { return }
        eventLoop.assumeIsolated().execute { self.flush() }
    }

    /// What a socket is to be sent when a frame is added. The first frame of most sockets is the one that the last socket
    /// was sent.
    func parcel(_ parcel: Parcel?, adding frame: ServerFrame) -> Parcel {
        if let parcel { return parcel.adding(frame) }
        if let lastParcel, lastParcel.ends(with: frame) { return lastParcel }
        let first = Parcel(frame)
        lastParcel = first
        return first
    }

    private func flush() {
        lastParcel = nil
        swap(&unflushed, &flushing)
        for connection in flushing {
            connection.flush()
        }
        flushing.removeAll(keepingCapacity: true)
    }
}
