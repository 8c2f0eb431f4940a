// The core of a worker: its shards, its lease, and the requests of servers. A server that embeds a node has presence
// and typing in its own process.

package import Logging
package import Metrics
internal import NIOConcurrencyHelpers
package import NIOCore
package import RollcallCore
package import RollcallProtocol
internal import RollcallRedis
internal import ServiceLifecycle

/// The shards of one worker and the lease that they share.
package final class Node: Sendable {
    let settings: NodeSettings
    /// The servers of Redis, for all connections.
    let topology: Topology
    let loops: [any EventLoop]
    let shards: NIOLockedValueBox<[NIOLoopBound<ShardDriver>]>
    let lease = NIOLockedValueBox<NIOLoopBound<LeaseDriver>?>(nil)
    private let state: NIOLockedValueBox<Readiness>
    private let started = NIOLockedValueBox<EventLoopPromise<Void>?>(nil)
    let requests: RequestConnection
    let serverTypings = NIOLockedValueBox<[ServerTyping.Place: ServerTyping]>([:])
    let logger: Logger
    private let problems: ProblemLog
    let alarm: AsyncStream<RedisAlarm>.Continuation
    private let alarms: AsyncStream<RedisAlarm>
    private let watch = NIOLockedValueBox<Task<Void, Never>?>(nil)
    private let metrics: any MetricsFactory

    /// Prepares a shard for each event loop of the group, without connecting.
    ///
    /// - Parameters:
    ///   - authenticator: Verifies the tokens of devices; `nil` if none connects from outside.
    ///   - metrics: Where the node reports metrics; by default the process's metrics system.
    /// - Throws: ``ConfigurationProblems`` if a file with credentials for Redis cannot be used.
    package init(
        _ settings: NodeSettings, authenticator: (any TokenVerifier)? = nil, group: any EventLoopGroup, logger: Logger,
        metrics: any MetricsFactory = MetricsSystem.factory
    ) async throws {
        self.settings = settings
        self.logger = logger
        self.metrics = metrics
        state = NIOLockedValueBox(Readiness(patience: settings.lease * Readiness.leases))
        loops = Array(group.makeIterator())
        let credentials = try settings.access.credentials(for: settings.redis, logger: logger)
        let topology = Topology(
            of: settings.redis, credentials: credentials, for: "rollcall-\(settings.worker)",
            lookUpTime: max(settings.connectTimeout, .seconds(10)), on: loops[0], logger: logger)
        self.topology = topology
        (alarms, alarm) = AsyncStream.makeStream(of: RedisAlarm.self, bufferingPolicy: .bufferingNewest(8))
        let problems = ProblemLog(logger, ofCluster: settings.redis.isCluster) { [alarm] in alarm.yield(.denied) }
        self.problems = problems
        requests = RequestConnection(settings, of: topology, problems: problems, metrics: metrics)
        let seats = UserSeats(limit: settings.sessionsPerUser)
        var shards: [NIOLoopBound<ShardDriver>] = []
        for loop in loops {
            let shard = try await loop.submit {
                NIOLoopBound(
                    ShardDriver(
                        settings, of: topology, authenticator: authenticator, seats: seats, on: loop,
                        problems: problems, metrics: metrics),
                    eventLoop: loop)
            }.get()
            shards.append(shard)
        }
        self.shards = NIOLockedValueBox(shards)
    }

    /// Returns the shard of an event loop. Call it on that loop.
    package func shard(on eventLoop: any EventLoop) -> ShardDriver {
        guard let shard = shards.withLockedValue({ $0 }).first(where: { $0.eventLoop === eventLoop }) else {
            preconditionFailure("shard(on:) needs an event loop of the node's group")
        }
        return shard.value
    }

    /// The incarnation that holds the lease; the last one while there is no lease.
    package var incarnation: Incarnation? { state.withLockedValue { $0.incarnation } }

    /// Whether, as far as the worker knows, Redis is available and holds its lease.
    package var holdsLease: Bool { state.withLockedValue { $0.holdsLease } }

    private var isRedisAway: Bool { state.withLockedValue { $0.redis?.answersReads != true } }

    /// What Redis lacks that a worker needs, as far as it was noticed.
    var lacking: String? {
        get { state.withLockedValue { $0.lacking } }
        set { state.withLockedValue { $0.lacking = newValue } }
    }

    /// Whether the name of `redis.url` leads to another server than the one in use.
    var hasMoved: Bool {
        get { state.withLockedValue { $0.hasMoved } }
        set { state.withLockedValue { $0.hasMoved = newValue } }
    }

    /// Why something could not be done.
    var unavailable: Unavailable {
        if isRedisAway { return Unavailable() }
        var unavailable = Unavailable(refusesWrites: state.withLockedValue { $0.redis?.refusesWrites == true })
        if !unavailable.refusesWrites {
            unavailable.description = lacking ?? "Redis did not do this, or not in time; the worker's log says why"
        }
        return unavailable
    }

    /// Connects to Redis and acquires a lease.
    ///
    /// - Parameters:
    ///   - edge: The address for devices; empty if they cannot connect.
    ///   - sessions: Returns the number of sessions, for operators.
    /// - Throws: ``CannotServe`` if there is no lease within the connect timeout, or Redis does not allow the first heartbeat;
    ///   `CancellationError` if the worker is stopped first.
    package func start(edge: String, host: String, sessions: @escaping @Sendable () -> Int) async throws {
        let started = loops[0].makePromise(of: Void.self)
        self.started.withLockedValue { $0 = started }
        let heartbeat = HeartbeatText(settings, edge: edge, host: host, sessions: sessions)
        try await first { [self] driver in
            let keeper = LeaseDriver(
                settings, of: topology, on: driver, shards: loops.count, problems: problems,
                metrics: WorkerTapes(metrics), reconnect: { [weak self] in self?.reconnect(because: $0) },
                describe: heartbeat.heartbeat(for:), tell: { [weak self] in self?.tell($0) },
                denied: { [settings] in started.fail(CannotServe.denied($0, at: settings.redis)) },
                lacks: { [weak self] moment in self?.state.withLockedValue { $0.missingSince = moment } },
                standing: { [weak self] in self?.standing ?? Standing() },
                gather: { [weak self, eventLoop = driver.eventLoop] in
                    self?.gatherFigures(on: eventLoop) ?? eventLoop.makeSucceededFuture(LoopFigures())
                })
            lease.withLockedValue { $0 = NIOLoopBound(keeper, eventLoop: driver.eventLoop) }
            driver.onNotice = { [weak self] in self?.noticed($0) }
            keeper.start()
        }
        try await onEachShard { [self] driver, index in
            driver.onRedisConnected = { [weak self] in self?.redisConnected(index) }
            driver.onRedisLost = { [weak self] in self?.redisLost($0) }
            driver.onAssertAnew = { [weak self] in self?.assertAnew($0) }
            driver.onDeadMet = { [weak self] in self?.met($0) }
            driver.onSplit = { [weak self] in self?.split($0) }
            driver.start()
        }
        let timeout = loops[0].scheduleTask(in: .nanoseconds(settings.connectTimeout.milliseconds * 1_000_000)) {
            [self] in
            let refusal = lease.withLockedValue { $0 }?.value.refusal
            let reason = refusal ?? shard(on: loops[0]).commands.lastError
            started.fail(CannotServe.noLease(settings.redis, reason: reason))
        }
        defer { timeout.cancel() }
        do {
            try await withTaskCancellationOrGracefulShutdownHandler {
                try await started.futureResult.get()
            } onCancelOrGracefulShutdown: {
                started.fail(CancellationError())
            }
        } catch let error as CannotServe where error.isDenied {
            // The first denial names one right of several.
            guard let address = topology.map?.primaries.first,
                let all = await lack(at: address, within: settings.connectTimeout)?.needed
            else {
                throw error
            }
            throw CannotServe.lacks(all, at: settings.redis)
        }
        let policy = try await checkServers()
        topology.follow(ObjectIdentifier(self)) { [alarm] in alarm.yield(.servers) }
        watch.withLockedValue { $0 = Task { [weak self, alarms] in await self?.watchRedis(alarms) } }
        lease.withLockedValue { $0 }.map { lease in
            lease.eventLoop.execute { lease.value.mayEvict = policy != nil }
        }
    }

    /// Has questions about access answered by an app's server. Call it before ``start(edge:host:sessions:)``.
    ///
    /// - Parameter ask: takes a question, why it is asked, `nil` if it no longer is, and the shard's number.
    package func askAccess(_ ask: @escaping @Sendable (AccessQuestion, AccessQueue.Need?, Int) -> Void) async throws {
        try await onEachShard { driver, index in driver.onAsk = { ask($0, $1, index) } }
    }

    /// The app's server has answered.
    package func answered(_ verdicts: [AccessQueue.Verdict]) {
        for (index, shard) in shards.withLockedValue({ $0 }).enumerated() {
            let own = verdicts.filter { $0.callers.contains(index) }
            guard !own.isEmpty else { continue }
            shard.eventLoop.execute {
                for verdict in own { shard.value.shard.after { $0.answered(verdict, at: $1) } }
            }
        }
    }

    /// The worker stops serving, whatever happens to its lease.
    package func leave() {
        state.withLockedValue { $0.left() }
    }

    package func stop() async throws {
        topology.unfollow(ObjectIdentifier(self))
        alarm.finish()
        let watch = watch.withLockedValue { $0 }
        watch?.cancel()
        await watch?.value
        try await requests.close()
        if let lease = lease.withLockedValue({ $0 }) {
            try await lease.eventLoop.flatSubmit { lease.value.stop() }.get()
        }
        for shard in shards.withLockedValue({ $0 }) {
            try await shard.eventLoop.flatSubmit { shard.value.stop() }.get()
        }
        await topology.close()
    }

    private func tell(_ news: LeaseNews) {
        state.withLockedValue { $0.told(news, at: .now) }
        for shard in shards.withLockedValue({ $0 }) {
            shard.eventLoop.execute { shard.value.told(news) }
        }
        if case .renewed(let redis, let snapshot) = news, let incarnation = redis.incarnation {
            look(for: incarnation, in: snapshot)
        }
        guard case .began = news else { return }
        started.withLockedValue { $0 }?.succeed()
    }

    /// Looks for the lease on the connection for requests.
    private func look(for incarnation: Incarnation, in snapshot: LeaseSnapshot) {
        guard let end = snapshot.leases[incarnation], !settings.redis.isCluster else { return }
        requests.look(for: incarnation, until: end) { [weak self] in
            self?.split("the connection for requests does not see the worker's lease")
        }
    }

    private func split(_ reason: String) {
        guard let lease = lease.withLockedValue({ $0 }) else { return }
        lease.eventLoop.execute { lease.value.split(reason) }
    }

    private func reconnect(because error: RedisError) {
        for shard in shards.withLockedValue({ $0 }) {
            shard.eventLoop.execute {
                shard.value.commands.reconnect(because: error)
                shard.value.subscriber.reconnect(because: error)
            }
        }
        requests.reconnect(because: error)
    }

    private func noticed(_ notice: WorkerNotice) {
        if case .erased(let user) = notice { endTypings(of: user) }
        if case .moved = notice { alarm.yield(.moved) }
        if case .rebalance(let most) = notice { Task { try await shed(above: most) } }
        for shard in shards.withLockedValue({ $0 }) {
            shard.eventLoop.execute { shard.value.shard.after { $0.noticed(notice, at: $1) } }
        }
    }

    private func redisConnected(_ shard: Int) {
        guard let lease = lease.withLockedValue({ $0 }) else { return }
        lease.eventLoop.execute { lease.value.shardConnected(shard) }
    }

    /// A shard that loses Redis affects the worker: the shard's last writes may be lost.
    private func redisLost(_ error: RedisError) {
        guard let lease = lease.withLockedValue({ $0 }) else { return }
        lease.eventLoop.execute { lease.value.shardLost(error) }
    }

    private func assertAnew(_ reason: AssertionReason) {
        guard let lease = lease.withLockedValue({ $0 }) else { return }
        lease.eventLoop.execute { lease.value.assertAnew(reason) }
    }

    private func met(_ items: [HeldItem]) {
        guard let lease = lease.withLockedValue({ $0 }) else { return }
        lease.eventLoop.execute { lease.value.met(items) }
    }

    func first<Value: Sendable>(_ body: @escaping @Sendable (ShardDriver) throws -> Value) async throws -> Value {
        let shard = shards.withLockedValue { $0[0] }
        return try await shard.eventLoop.submit { try body(shard.value) }.get()
    }

    func onEachShard(_ body: @escaping @Sendable (ShardDriver, _ index: Int) -> Void) async throws {
        for (index, shard) in shards.withLockedValue({ $0 }).enumerated() {
            try await shard.eventLoop.submit { body(shard.value, index) }.get()
        }
    }

    /// Sends a request to the store, on the connection for requests.
    ///
    /// - Throws: ``Unavailable``.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (Store, @escaping (Result<Value, RedisError>) -> Void) -> Void
    ) async throws -> Value {
        guard !isRedisAway else { throw Unavailable() }
        return try await requests.ask(body)
    }

    /// The most typists that a message names.
    var typingNames: Int { settings.shard.typing.names }

    package var isDraining: Bool { state.withLockedValue { $0.isLeaving } }

    /// Whether it takes devices, whatever it has of Redis: from its first lease until it stops.
    package var isServing: Bool { state.withLockedValue { $0.incarnation != nil && !$0.isLeaving } }

    package var isReady: Bool { state.withLockedValue { $0.isReady(at: .now) } }

    package var reason: String? {
        let (reason, lacking, incarnation) = state.withLockedValue { ($0.reason(at: .now), $0.lacking, $0.incarnation) }
        guard incarnation == nil, let reason, let cause = problems.missing else { return reason ?? lacking }
        return "\(reason): \(cause)"
    }

    private var standing: Standing {
        state.withLockedValue {
            Standing(
                isReady: $0.isReady(at: .now), isDraining: $0.isLeaving, lacksRights: $0.lacking != nil,
                hasMoved: $0.hasMoved)
        }
    }
}

// MARK: Draining

// Graceful shutdown of a worker: moves its devices, writes their final state, and ends its lease.

extension Node {
    /// Moves every device to another worker, then ends the lease.
    ///
    /// - Parameter spread: Over how long; `nil` for `worker.drain`.
    package func drain(over spread: Duration? = nil) async throws {
        leave()
        let destinations = try await onLease { $0.handOver() } ?? []
        let spread = spread ?? settings.drain
        try await onEachShard { driver, _ in driver.shard.after { $0.drain(over: spread, to: destinations, at: $1) } }
        let deadline = ContinuousClock.now + spread + .seconds(2)
        while ContinuousClock.now < deadline, try await fromEachShard({ $0.shard.isDrained }).contains(false) {
            try await Task.sleep(for: .milliseconds(20))
        }
        var grace = Duration.zero
        for left in try await fromEachShard({ $0.shard.graceLeft(at: $0.now) }) { grace = max(grace, left) }
        try await onLease { [grace] in $0.end(after: grace) }
    }

    /// - Returns: `nil` if the node never requested a lease.
    @discardableResult
    func onLease<Value: Sendable>(
        _ body: @escaping @Sendable (LeaseDriver) -> EventLoopFuture<Value>
    ) async throws -> Value? {
        guard let lease = lease.withLockedValue({ $0 }) else { return nil }
        return try await lease.eventLoop.flatSubmit { body(lease.value) }.get()
    }
}

// MARK: Rebalancing

extension Node {
    /// Moves what this worker has above so many sessions to workers that have less.
    private func shed(above most: Int) async throws {
        let counts = try await fromEachShard { $0.shard.movableCount }
        let all = counts.reduce(0, +)
        guard all > most, !isDraining, let destinations = try await onLease({ $0.destinations(mean: most) }) else {
            return
        }
        logger.info("rebalancing", metadata: ["sessions": "\(all)", "to": "\(most)"])
        try await onEachShard { [settings] driver, index in
            let share = Int((Double(all - most) * Double(counts[index]) / Double(all)).rounded())
            driver.shard.after { $0.shed(share, over: settings.drain, to: destinations, at: $1) }
        }
    }
}
