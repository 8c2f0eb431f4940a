// State shared by the connections of one event loop: the shard, a buffer, the list to flush at the end of the tick, and
// one check for pings, slow readers and deadlines.

import Logging
import NIOCore
import NIOSSL
import RollcallCore
import RollcallProtocol

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
    /// What a health check is told.
    let isServing: @Sendable () -> Bool
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
    var nextCheck: Scheduled<Void>?
    var isStopped = false
    /// The counts so far.
    var tally = EdgeTally()
    var limitCounts = LimitCounts()
    /// Connections that did not begin with an HTTP request.
    var noHTTP = RepeatedProblem()
    /// Connections that are not sessions, and connections that are backed up, in order of entering that state.
    var waiting: [Waiting] = []
    var backlogs: [Backlog] = []

    /// Create it on `eventLoop`. It checks until ``stop()``.
    init(
        on eventLoop: any EventLoop, settings: EdgeSettings, sessions: SessionCount, addresses: AddressLimits? = nil,
        isServing: @escaping @Sendable () -> Bool = { true }, shard: any EdgeShard, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.settings = settings
        self.sessions = sessions
        self.addresses = addresses
        self.isServing = isServing
        self.shard = shard
        self.logger = logger
        handshake = Handshake(
            origins: OriginPolicy(
                origins: settings.origins, listeningOn: settings.host, trustsTokens: settings.trustsTokens))
        proxies = TrustedProxies(settings.trustedProxies)
        isEncrypted = settings.tls != nil
        clock = AwakeClock(interval: settings.checkInterval, at: eventLoop.now)
        rota = PingRota(bands: settings.checks)
        scheduleCheck()
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

// MARK: Connections that are no sessions

// Connections that are not sessions: in the handshake, before the answer to hello, or closing. Anyone can open them, so
// they have a separate limit and take no session's place. Beyond the limit, the address with the most of them loses its
// oldest: a legitimate handshake and hello take milliseconds.

/// A connection that is not a session.
struct Waiting {
    enum Stage {
        /// Ends at `until`, in the loop's awake time.
        case handshake(HandshakeHandler, until: Duration)
        /// A WebSocket without hello, or whose token is not checked yet. The shard limits its time.
        case greeting(EdgeConnection)
        /// Its close frame is sent, or waits behind data that the peer has not read.
        case closing(EdgeConnection, ClosingPatience)
    }

    var stage: Stage

    init(_ stage: Stage) {
        self.stage = stage
    }

    var address: ClientAddress {
        switch stage {
        case .handshake(let handler, _): handler.address
        case .greeting(let connection), .closing(let connection, _): connection.address
        }
    }

    /// Whether the connection has moved to the next state or closed.
    var isOver: Bool {
        switch stage {
        case .handshake(let handler, _): handler.isOver
        case .greeting(let connection):
            connection.isSeated || connection.isHalfClosed || connection.phase == .over
        case .closing(let connection, _): connection.phase == .over
        }
    }

    /// Ends the connection to make room for a newer one.
    func giveWay() {
        switch stage {
        case .handshake(let handler, _): handler.giveUp(.busy)
        case .greeting(let connection), .closing(let connection, _): connection.abort()
        }
    }

    /// Selects the connections to drop when there are too many: the oldest of the address with the most.
    ///
    /// - Parameters:
    ///   - count: How many to drop at most.
    ///   - addresses: The addresses of all connections, oldest first.
    /// - Returns: The indices to drop.
    static func surplus(_ count: Int, of addresses: [ClientAddress]) -> [Int] {
        let held = addresses.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let most = held.values.max()
        return Array(addresses.indices.lazy.filter { held[addresses[$0]] == most }.prefix(count))
    }
}

extension EdgeLoop {
    /// Makes room for one more connection.
    func makeRoom() {
        guard waiting.count >= settings.handshakes else { return }
        waiting.removeAll(where: \.isOver)
        guard waiting.count >= settings.handshakes else { return }
        limitHit(.handshakes)
        // Drops a few extra, so that a flood does not cause a full scan per connection.
        let count = waiting.count - settings.handshakes + max(1, settings.handshakes / 64)
        let surplus = Waiting.surplus(count, of: waiting.map(\.address))
        let dropped = surplus.map { waiting[$0] }
        surplus.reversed().forEach { waiting.remove(at: $0) }
        dropped.forEach { $0.giveWay() }
    }

    /// Ends connections that exceed their deadlines.
    func checkWaiting() {
        let now = clock.awake
        for index in waiting.indices where !waiting[index].isOver {
            switch waiting[index].stage {
            case .handshake(let handler, let until):
                guard until <= now else { break }
                limitHit(.hello)
                handler.giveUp(.late)
            case .greeting: break
            case .closing(let connection, var patience):
                if patience.isOver(waiting: connection.outboundBytes, at: now) { connection.abort() }
                waiting[index].stage = .closing(connection, patience)
            }
        }
        waiting.removeAll(where: \.isOver)
    }

    /// How many connections are not WebSockets yet.
    var handshakesInHand: Int {
        waiting.count { if case .handshake = $0.stage { true } else { false } }
    }
}

// MARK: The check

// One check per loop instead of a timer per connection. About ten times a second, it pings the connections whose turn it
// is, and checks the few with pending deadlines.

/// A connection with too much waiting data.
struct Backlog {
    let connection: EdgeConnection
    /// When the countable bytes exceeded `limits.outbound_bytes`, in the loop's awake time.
    var overSince: Duration?
}

/// How long a peer may take to read the data before a close frame, and to answer that frame.
struct ClosingPatience {
    private let pause: Duration
    private let end: Duration
    /// When to give up unless the peer reads.
    private var until: Duration
    /// The bytes that waited at the last check.
    private var waiting: Int

    init(_ settings: EdgeSettings, waiting: Int, at now: Duration) {
        pause = settings.closing
        end = now + settings.closingAtMost
        until = now + pause
        self.waiting = waiting
    }

    /// - Parameter waiting: The bytes that the kernel has not accepted. Each time some have left, the deadline moves by
    ///   `closing`.
    /// - Returns: Whether to give up.
    mutating func isOver(waiting: Int, at now: Duration) -> Bool {
        if waiting < self.waiting { until = now + pause }
        self.waiting = waiting
        return now >= min(until, end)
    }
}

extension EdgeLoop {
    func joined(_ connection: EdgeConnection) {
        rota.join(connection)
        waiting.append(Waiting(.greeting(connection)))
    }

    func left(_ connection: EdgeConnection) {
        rota.leave(connection)
    }

    /// Checks the connection at every check until it is no longer backed up.
    func watch(_ connection: EdgeConnection) {
        guard !connection.isWatched else { return }
        connection.isWatched = true
        backlogs.append(Backlog(connection: connection))
    }

    /// Closes the connection if its peer does not in time.
    func awaitEnd(of connection: EdgeConnection) {
        let patience = ClosingPatience(settings, waiting: connection.outboundBytes, at: clock.awake)
        waiting.append(Waiting(.closing(connection, patience)))
    }

    func scheduleCheck() {
        nextCheck = eventLoop.assumeIsolated().scheduleTask(in: settings.checkInterval) { self.check() }
    }

    private func check() {
        guard !isStopped else { return }
        scheduleCheck()
        guard clock.checked(at: eventLoop.now) else { return }
        rota.turn().forEach { $0.ping() }
        checkBacklogs()
        checkWaiting()
    }

    private func checkBacklogs() {
        for index in backlogs.indices.reversed() {
            let connection = backlogs[index].connection
            guard connection.isBackedUp else {
                connection.isWatched = false
                backlogs.swapAt(index, backlogs.endIndex - 1)
                backlogs.removeLast()
                continue
            }
            guard connection.countedBytes > settings.outboundBytes else {
                backlogs[index].overSince = nil
                continue
            }
            let since = backlogs[index].overSince ?? clock.awake
            backlogs[index].overSince = since
            if clock.awake - since >= settings.slowFor { connection.closeAsSlow() }
        }
    }

    /// Stops the checks and ends every connection without a close frame.
    func stop() {
        isStopped = true
        nextCheck?.cancel()
        for case .handshake(let handler, _) in waiting.map(\.stage) { handler.abort() }
        rota.members.forEach { $0.abort() }
        waiting = []
        backlogs = []
    }
}

// MARK: Limits

// Limits on clients, and how often each took effect. Every limit is reported here, so that operators can see it in a
// metric and in the log, and neither can be flooded.

/// How often each limit took effect on one loop.
struct LimitCounts {
    /// The minimum time between two log lines about one limit.
    static let silence = Duration.seconds(60)

    private(set) var hits = Counts<Limit>()
    private var told: [Limit: Duration] = [:]

    /// - Returns: Whether to log it now.
    mutating func hit(_ limit: Limit, at awake: Duration) -> Bool {
        hits.count(limit)
        if let last = told[limit], awake - last < Self.silence { return false }
        told[limit] = awake
        return true
    }
}

extension EdgeLoop {
    /// A limit took effect: counts it, and logs it at most once a minute.
    ///
    /// - Parameters:
    ///   - user: Who met it, if anybody had signed in.
    ///   - details: names and texts for the log line.
    func limitHit(_ limit: Limit, of user: UserID? = nil, _ details: [(String, String)] = []) {
        guard limitCounts.hit(limit, at: clock.awake) else { return }
        var metadata: Logger.Metadata = ["limit": "\(limit.rawValue)", "hits": "\(limitCounts.hits[limit])"]
        for (name, text) in details { metadata[name] = "\(text)" }
        if let user { metadata["user"] = "\(user)" }
        logger.notice("a limit holds", metadata: metadata)
    }
}

extension EdgeLoop {
    /// A connection did not begin with an HTTP request: a proxy may be set up wrongly. Scanners do the same.
    func metNoHTTP() {
        guard noHTTP.occurred("", at: .now) else { return }
        logger.info("a connection began with no HTTP method: a proxy that sends the PROXY protocol, or TLS, is refused")
    }

    /// A connection could not be accepted because no descriptor was free: counts and logs it as a problem for the
    /// administrator.
    func ranOutOfFiles(_ error: IOError) {
        _ = limitCounts.hit(.openFiles, at: clock.awake)
        logger.outOfFiles(error, port: "edge")
    }
}
