// A channel to one Redis server that is opened again whenever it is lost, with a handshake, a health check, and output
// that is sent once per event-loop tick. What it carries, commands or subscriptions, is its user's matter.

import Logging
package import NIOCore
import NIOPosix
import NIOSSL
import RollcallProtocol

/// The user of a ``RedisConnection``. All calls are made on its event loop.
protocol ConnectionUser: AnyObject {
    /// The handshake is complete.
    func connected()
    func received(_ reply: RESPReply)
    /// All replies that arrived together were received.
    func readEnded()
    /// The last opportunity to write in this event-loop tick.
    func willFlush()
    /// ``RedisConnection/now`` has advanced.
    func ticked()
    /// Nothing was heard for a while: a command is to be sent, and its reply ignored.
    func ping()
    /// The connection was lost, or could not be opened.
    ///
    /// - Parameter wasReady: whether ``connected()`` had announced it.
    func lost(_ error: RedisError, wasReady: Bool)
    /// The name of a command whose reply is pending; `nil` if none is.
    var pendingCommand: String? { get }
}

/// The timeouts and limits of a connection to Redis. The defaults suit a Redis in the same data centre.
public struct ConnectionSettings: Hashable, Sendable {
    /// The timeout of one connection attempt.
    public var connectTimeout: Duration
    /// The interval of pings.
    public var pingEvery: Duration
    /// How long no data may arrive while a reply is pending, before the connection counts as dead. This covers the
    /// handshake, also that of TLS.
    public var deadAfter: Duration
    /// The most commands that may wait for their replies; further ones fail.
    public var maximumWaiting: Int

    public init(
        connectTimeout: Duration = .seconds(1), pingEvery: Duration = .seconds(1), deadAfter: Duration = .seconds(3),
        maximumWaiting: Int = 65_536
    ) {
        precondition(pingEvery > .zero && deadAfter > pingEvery, "a ping needs time to be answered")
        precondition(maximumWaiting > 0, "limits are positive")
        self.connectTimeout = connectTimeout
        self.pingEvery = pingEvery
        self.deadAfter = deadAfter
        self.maximumWaiting = maximumWaiting
    }
}

/// The delay before each further attempt: it doubles from `first` up to `longest`, so that a starting Redis is not
/// overloaded. Each is shortened by a random amount of up to half, so that workers do not reconnect in step.
private struct Backoff {
    private let first = Duration.milliseconds(50)
    private let longest = Duration.milliseconds(500)
    private var failures = 0

    /// Handles a failed attempt or a lost connection.
    ///
    /// - Returns: the delay before the next attempt.
    mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
        let pause = min(longest, first * (1 << min(failures, 20)))
        failures += 1
        return pause * Double.random(in: 0.5...1, using: &random)
    }

    /// Resets the delay after a connection that lasted.
    mutating func succeeded() { failures = 0 }
}

/// A channel to a server that is reopened whenever it is lost.
package final class RedisConnection {
    private enum State {
        case idle
        case connecting
        case open(ConnectionHandler, ticks: RepeatedTask)
        case pausing(Scheduled<Void>)
        case closed
    }

    let eventLoop: any EventLoop
    let settings: ConnectionSettings
    private let endpoint: Endpoint
    private let logger: Logger
    private let handshake: (RedisLocation) -> [HandshakeStep]
    weak var user: (any ConnectionUser)?

    var tally = ConnectionTally()
    /// Whether there is a working connection: authenticated, and Redis is not loading its data.
    private(set) var isReady = false
    /// Why there is no connection at this moment; `nil` while connected, and during the first attempt, unless that still
    /// looks up the host's name.
    private(set) var lastError: RedisError?
    /// The event loop's own time, in ticks. A stall of the loop counts as one tick, even a long one, and afterwards the
    /// loop first reads what waits in its sockets. The loop's own stall is therefore never mistaken for a silent peer.
    private(set) var now = 0

    private var state = State.idle
    private var output = ByteBuffer()
    private var reader: RESPReader?
    /// The steps of the handshake whose replies are pending.
    private var steps: ArraySlice<HandshakeStep> = []
    private var openedAt = 0
    /// When data last arrived, in ticks.
    private var heardAt = 0
    /// Since when replies are pending without any data arriving, in ticks.
    private var silentSince: Int?
    private var backoff = Backoff()
    private var random = SystemRandomNumberGenerator()
    /// The addresses of the host at the last look-up, and those of them that accepted a connection which then did not
    /// work. These are tried again once all are.
    private var addresses: [SocketAddress] = []
    private var useless: Set<SocketAddress> = []
    private var isReading = false
    private var flushIsScheduled = false
    private lazy var flushLater: @Sendable () -> Void = { [bound = NIOLoopBound(self, eventLoop: eventLoop)] in
        bound.value.flush()
    }

    /// - Parameter handshake: the first commands on each new connection.
    init(
        to endpoint: Endpoint, on eventLoop: any EventLoop, logger: Logger, settings: ConnectionSettings,
        handshake: @escaping (RedisLocation) -> [HandshakeStep]
    ) {
        (self.endpoint, self.eventLoop, self.logger) = (endpoint, eventLoop, logger)
        (self.settings, self.handshake) = (settings, handshake)
    }
}

// MARK: Connecting and closing

extension RedisConnection {
    func start() {
        eventLoop.preconditionInEventLoop()
        guard case .idle = state else { preconditionFailure("a connection is started once") }
        connect()
    }

    /// Closes the connection for good.
    func close(_ reason: RedisError) -> EventLoopFuture<Void> {
        eventLoop.preconditionInEventLoop()
        let last = state
        state = .closed
        // Breaks a reference cycle: the closure references the connection.
        flushLater = {}
        ended(reason)
        switch last {
        case .idle, .connecting, .closed: return eventLoop.makeSucceededVoidFuture()
        case .pausing(let pause):
            pause.cancel()
            return eventLoop.makeSucceededVoidFuture()
        case .open(let handler, let ticks):
            ticks.cancel()
            return handler.close()
        }
    }

    /// Drops the current channel and connects again after a pause.
    func drop(_ error: RedisError) {
        guard case .open(let handler, let ticks) = state else { return }
        ticks.cancel()
        avoid(handler)
        // The state changes first, because closing a channel reports its end before it returns.
        pause(after: error)
        _ = handler.close()
    }

    private func connect() {
        // The owner was deallocated without closing the connection.
        guard user != nil else { return _ = close(.closed) }
        state = .connecting
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        if lastError == nil, let name = endpoint.name {
            lastError = RedisError(.connectFailed, "looking up \(name): no answer yet")
        }
        endpoint.resolved(on: eventLoop).and(endpoint.addresses(on: eventLoop)).flatMap { resolved, addresses in
            bound.value.dial(resolved.0, resolved.1, addresses)
        }.whenFailure { error in
            let connection = bound.value
            guard case .connecting = connection.state else { return }
            let place = connection.endpoint.location
            connection.pause(
                after: RedisError(.connectFailed, "no connection to Redis at \(place): \(error)", underlying: error))
        }
    }

    /// The server's address, while there is a channel to it.
    var address: SocketAddress? { if case .open(let handler, _) = state { handler.address } else { nil } }

    /// Whether another address of the host has not been tried since the last attempt failed.
    var hasOtherAddress: Bool { !useless.isEmpty && addresses.contains { !useless.contains($0) } }

    private func dial(
        _ location: RedisLocation, _ tls: TLSClient?, _ found: [SocketAddress]
    ) -> EventLoopFuture<Void> {
        addresses = found
        if !hasOtherAddress { useless = [] }
        precondition(location.isEncrypted == (tls != nil), "a connection is encrypted if its URL says so")
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(TimeAmount(settings.connectTimeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls, case .host(let host, _) = location.address {
                        try pipeline.addHandler(try tls.handler(for: host))
                    }
                    try pipeline.addHandler(ConnectionHandler(bound.value, location))
                }
            }
        let channel =
            switch location.address {
            case .host(let host, let port):
                bootstrap.connect(to: host, port, at: found.filter { !useless.contains($0) }, on: eventLoop)
            case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        return channel.map { _ in }
    }

    fileprivate func opened(_ handler: ConnectionHandler) {
        // The connection was closed in the meantime, or another of several addresses was faster.
        guard case .connecting = state else { return _ = handler.close() }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let ticks = eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in bound.value.ticked() }
        state = .open(handler, ticks: ticks)
        begin(at: handler.location)
    }

    /// Sends the handshake on a new channel.
    package func begin(at location: RedisLocation) {
        reader = RESPReader(maximumReplyBytes: 64 << 20)
        (openedAt, heardAt, silentSince) = (now, now, nil)
        output.clear()
        steps = handshake(location)[...]
        for step in steps { write(step.command) }
    }

    fileprivate func channelEnded(_ handler: ConnectionHandler, _ error: (any Error)?) {
        guard case .open(let current, let ticks) = state, current === handler else { return }
        ticks.cancel()
        avoid(handler)
        pause(after: .ended(error, encrypted: endpoint.location.isEncrypted, heard: handler.heardAnything))
    }

    /// Tries another address next, if a connection did not work from its beginning.
    private func avoid(_ handler: ConnectionHandler) {
        if !isReady, let address = handler.address { useless.insert(address) }
    }

    private func pause(after error: RedisError) {
        let pause = backoff.failed(using: &random)
        logger.debug(
            "no connection to Redis",
            metadata: ["redis": "\(endpoint.location)", "error": "\(error)", "pause": "\(pause)"])
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        state = .pausing(eventLoop.scheduleTask(in: TimeAmount(pause)) { bound.value.connect() })
        ended(error)
    }

    private func ended(_ error: RedisError) {
        let wasReady = isReady
        (isReady, isReading, reader, steps, lastError) = (false, false, nil, [], error)
        tally.lost(by: error)
        user?.lost(error, wasReady: wasReady)
    }
}

// MARK: Time

extension RedisConnection {
    /// The number of ticks between two pings.
    private static let ticksPerPing = 4

    private var tick: TimeAmount { TimeAmount(settings.pingEvery / Self.ticksPerPing) }

    private func ticked() {
        guard let user else { return _ = close(.closed) }
        guard case .open(let handler, _) = state else { return }
        now += 1
        if now - openedAt == Self.ticksPerPing { backoff.succeeded() }
        if let silentSince, (settings.pingEvery / Self.ticksPerPing) * (now - silentSince - 1) >= settings.deadAfter {
            let command = steps.first?.command.name ?? user.pendingCommand
            return drop(.silent(command, encrypted: endpoint.location.isEncrypted && !handler.heardAnything))
        }
        user.ticked()
        if isReady, silentSince == nil, now - heardAt >= Self.ticksPerPing { user.ping() }
    }
}

// MARK: Bytes

extension RedisConnection {
    /// Adds a command, or several, to the output, which is sent at the end of this event-loop tick or of this read.
    func write(count: Int, _ body: (inout ByteBuffer) -> Void) {
        body(&output)
        wrote(count)
    }

    func write(_ command: RedisCommand) {
        output.write(command)
        wrote(1)
    }

    private func wrote(_ commands: Int) {
        tally.commands += commands
        if silentSince == nil { silentSince = now }
        flushSoon()
    }

    /// Ensures that ``ConnectionUser/willFlush()`` is called.
    func flushSoon() {
        guard !isReading, !flushIsScheduled else { return }
        flushIsScheduled = true
        eventLoop.execute(flushLater)
    }

    fileprivate func isOpen(over handler: ConnectionHandler) -> Bool {
        if case .open(let current, _) = state { current === handler } else { false }
    }

    /// Handles data from Redis.
    package func feed(_ bytes: ByteBuffer) {
        // One look at the weak reference serves all replies.
        guard let reader, let user else { return }
        isReading = true
        tally.receivedBytes += bytes.readableBytes
        (heardAt, silentSince) = (now, nil)
        let error = reader.feed(bytes) { reply in
            if steps.isEmpty { user.received(reply) } else { shook(reply) }
            return self.reader === reader
        }
        user.readEnded()
        if let error { return drop(error) }
        // As long as any replies arrive, a pending command is queued behind others and not lost.
        if self.reader != nil, silentSince == nil, !steps.isEmpty || user.pendingCommand != nil { silentSince = now }
    }

    fileprivate func readCompleted() {
        isReading = false
        flush()
    }

    private func flush() {
        flushIsScheduled = false
        guard case .open(let handler, _) = state else { return }
        if isReady { user?.willFlush() }
        guard output.readableBytes > 0 else { return }
        tally.sentBytes += output.readableBytes
        handler.send(output)
        output.clear(atMost: 256 * 1024)
    }

    private func shook(_ reply: RESPReply) {
        guard let step = steps.popFirst() else { return }
        if let line = reply.error { tally.failed(RedisError(reply: line, command: step.command.name)) }
        if let verdict = step.judge(reply) { return drop(verdict) }
        guard steps.isEmpty else { return }
        (isReady, lastError) = (true, nil)
        tally.connects += 1
        user?.connected()
        flushSoon()
    }
}

/// Connects a channel to its connection.
private final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let location: RedisLocation
    private let connection: RedisConnection
    private var context: ChannelHandlerContext?
    private var error: (any Error)?
    private(set) var heardAnything = false
    /// The server's address.
    private(set) var address: SocketAddress?

    init(_ connection: RedisConnection, _ location: RedisLocation) {
        (self.connection, self.location) = (connection, location)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        address = context.remoteAddress
        connection.opened(self)
    }

    func channelInactive(context: ChannelHandlerContext) { connection.channelEnded(self, error) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        heardAnything = true
        if connection.isOpen(over: self) { connection.feed(unwrapInboundIn(data)) }
    }

    func channelReadComplete(context: ChannelHandlerContext) { connection.readCompleted() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = error
        context.close(promise: nil)
    }

    func send(_ bytes: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    func close() -> EventLoopFuture<Void> {
        guard let context else { return connection.eventLoop.makeSucceededVoidFuture() }
        context.close(promise: nil)
        return context.channel.closeFuture
    }
}

// MARK: Handshake

/// One of the first commands on a new connection, which are sent in one pipeline.
struct HandshakeStep {
    let command: RedisCommand
    /// Returns why the connection cannot be used, given the reply; `nil` if it can be.
    let judge: (RESPReply) -> RedisError?

    /// A command whose failure does no harm: a connection without a name works.
    static func optional(_ command: RedisCommand) -> HandshakeStep { HandshakeStep(command: command) { _ in nil } }

    /// Authenticates and names the connection. `PING` reveals a server that is not ready, and one that requires a
    /// password that was not given.
    static func introduction(_ location: RedisLocation, name: String) -> [HandshakeStep] {
        var steps: [HandshakeStep] = []
        if let password = location.password {
            let user = location.username.map { [RedisCommand.Argument.string($0)] } ?? []
            let command = RedisCommand("AUTH", arguments: user + [.string(password)])
            steps.append(HandshakeStep(command: command) { $0.error.map(refusedLogin) })
        }
        steps.append(
            HandshakeStep(command: RedisCommand("PING")) { reply in
                guard let line = reply.error else { return nil }
                let error = RedisError(reply: line, command: "PING")
                // A user without the right to ping may have all other rights. After a failed save, Redis refuses both
                // writes and `PING`.
                switch error.code {
                case .server(kind: "NOPERM"), .server(kind: "MISCONF"): return nil
                case .server(kind: "NOAUTH"): return refusedLogin(line)
                default: return error
                }
            })
        return steps + [.optional(RedisCommand("CLIENT", "SETNAME", .string(name)))]
    }

    private static func refusedLogin(_ line: ByteString) -> RedisError {
        let error = RedisError(reply: line, command: "AUTH")
        let isAboutCredentials =
            switch error.code {
            case .server(kind: "WRONGPASS"), .server(kind: "NOAUTH"), .server(kind: "NOPERM"): true
            default: line.firstBytes(of: "AUTH") != nil || line.firstBytes(of: "password") != nil
            }
        guard isAboutCredentials else { return error }
        return RedisError(
            reply: line, command: "AUTH", code: .authentication, sentence: "Redis refused the user or the password")
    }

    static func select(_ database: Int) -> HandshakeStep {
        HandshakeStep(command: RedisCommand("SELECT", .integer(Int64(database)))) {
            $0.error.map { RedisError(reply: $0, command: "SELECT") }
        }
    }

    /// Refuses a replica: sentinels may name one during a failover, and a name may lead to several servers. A server that may
    /// not, or cannot, be asked counts as a primary.
    static func role(at address: RedisLocation.Address, isNamedBySentinels: Bool) -> HandshakeStep {
        HandshakeStep(command: RedisCommand("ROLE")) { reply in
            guard reply.tree.array?.first?.text == "slave" else { return nil }
            let sentence =
                isNamedBySentinels
                ? "the sentinels name \(address) as the primary, and it is a replica: a failover may be under way"
                : "\(address) leads to a replica, which refuses writes: redis.url must lead to the primary alone"
            return RedisError(.server(kind: "READONLY"), command: "ROLE", sentence)
        }
    }
}
