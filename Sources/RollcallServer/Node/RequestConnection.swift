// The connection to Redis for requests of servers and operators. Replies can be large and slow to parse. So they use
// neither the connections for heartbeats and shards nor an event loop with sessions.

internal import Logging
internal import Metrics
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import RollcallCore
internal import RollcallProtocol
internal import RollcallRedis

/// A worker's connection to Redis for requests, with its own thread. The first request opens it.
final class RequestConnection: Sendable {
    private enum State {
        case unused
        case open(MultiThreadedEventLoopGroup, NIOLoopBoundBox<RequestLane?>)
        case closed
    }

    private let settings: NodeSettings
    private let topology: Topology
    private let problems: ProblemLog
    private let metrics: any MetricsFactory
    private let state = NIOLockedValueBox(State.unused)

    init(_ settings: NodeSettings, of topology: Topology, problems: ProblemLog, metrics: any MetricsFactory) {
        (self.settings, self.topology) = (settings, topology)
        (self.problems, self.metrics) = (problems, metrics)
    }

    /// Looks for the worker's lease, if a request has opened the connection.
    ///
    /// - Parameter isElsewhere: Called if it leads to another server.
    func look(for incarnation: Incarnation, until end: Timestamp, isElsewhere: @escaping @Sendable () -> Void) {
        withLane { lane in
            lane.store.look(for: incarnation, until: end) { if lane.missed.looked($0) { isElsewhere() } }
        }
    }

    func reconnect(because error: RedisError) {
        withLane { $0.commands.reconnect(because: error) }
    }

    private func withLane(_ body: @escaping @Sendable (RequestLane) -> Void) {
        guard case .open(let group, let lane) = state.withLockedValue({ $0 }) else { return }
        group.next().execute { lane.value.map(body) }
    }

    /// Sends a request to the store.
    ///
    /// - Throws: ``Unavailable`` if Redis does not answer.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (Store, @escaping (Result<Value, RedisError>) -> Void) -> Void
    ) async throws -> Value {
        guard let (loop, lane) = lane() else { throw Unavailable() }
        let promise = loop.makePromise(of: Value.self)
        loop.execute {
            guard let lane = lane.value else { return promise.fail(Unavailable()) }
            lane.whenConnected { store in
                guard let store else { return promise.fail(Unavailable()) }
                body(store) { promise.completeWith($0.mapError { $0 as any Error }) }
            }
        }
        do {
            return try await promise.futureResult.get()
        } catch let error as RedisError {
            throw Unavailable(error)
        }
    }

    /// Closes the connection permanently.
    func close() async throws {
        let last = state.withLockedValue { state in
            defer { state = .closed }
            return state
        }
        guard case .open(let group, let lane) = last else { return }
        let loop = group.next()
        try await loop.flatSubmit { lane.value?.close() ?? loop.makeSucceededVoidFuture() }.get()
        try await group.shutdownGracefully()
    }

    private func lane() -> (any EventLoop, NIOLoopBoundBox<RequestLane?>)? {
        state.withLockedValue { state in
            switch state {
            case .closed: return nil
            case .open(let group, let lane): return (group.next(), lane)
            case .unused:
                let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
                let loop = group.next()
                let lane = NIOLoopBoundBox<RequestLane?>.makeEmptyBox(eventLoop: loop)
                loop.execute { [self] in
                    lane.value = RequestLane(settings, of: topology, on: loop, problems: problems, metrics: metrics)
                    lane.value?.start()
                }
                state = .open(group, lane)
                return (loop, lane)
            }
        }
    }
}

/// The connection, on its event loop.
private final class RequestLane {
    let commands: RedisClient
    let store: Store
    private let eventLoop: any EventLoop
    private var tapes: ConnectionTapes
    private var nextReport: Scheduled<Void>?
    var missed = MissedBeats()
    private var hasBegun = false
    private var isClosed = false
    /// Requests that wait for the connection, by number: those of the admin port, which accepts 128 connections, and
    /// those of an embedding server, which have no limit here.
    private var waiting: [Int: (Store?) -> Void] = [:]
    private var turn = 0

    /// How long a request waits for a connection: for the first one, and after a loss for the next attempt.
    private static let patience = TimeAmount.seconds(1)
    private static let mostWaiting = 1024

    init(
        _ settings: NodeSettings, of topology: Topology, on eventLoop: any EventLoop, problems: ProblemLog,
        metrics: any MetricsFactory
    ) {
        self.eventLoop = eventLoop
        commands = RedisClient(
            of: topology, name: "rollcall-\(settings.worker)-requests", on: eventLoop,
            logger: problems.logger, scripts: Script.all)
        commands.onDenied = { problems.denied($0) }
        store = Store(on: commands, settings: settings.store)
        tapes = ConnectionTapes(.requests, metrics)
    }

    func start() {
        commands.onConnect = { [weak self] in self?.connected() }
        commands.start()
        report()
    }

    func close() -> EventLoopFuture<Void> {
        isClosed = true
        nextReport?.cancel()
        tapes.withdraw()
        answerAll(nil)
        return commands.close()
    }

    /// Calls `body` with the store when there is a connection, or with `nil` if there is none in time.
    func whenConnected(_ body: @escaping (Store?) -> Void) {
        guard !isClosed, waiting.count < Self.mostWaiting else { return body(nil) }
        if hasBegun, commands.connectionCount > 0 { return body(store) }
        turn += 1
        let turn = turn
        waiting[turn] = body
        eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
            self?.waiting.removeValue(forKey: turn)?(nil)
        }
    }

    private func connected() {
        hasBegun = true
        answerAll(store)
    }

    private func answerAll(_ store: Store?) {
        let bodies = waiting.sorted { $0.key < $1.key }.map(\.value)
        waiting = [:]
        for body in bodies { body(store) }
    }

    private func report() {
        tapes.report(commands.tally, standing: commands.connectionCount)
        tapes.waiting(commands.waitingCount)
        nextReport = eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [weak self] in self?.report() }
    }
}
