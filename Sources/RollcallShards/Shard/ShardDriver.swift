// One event loop of a worker: the shard with its connections to Redis.

internal import Logging
package import Metrics
internal import NIOCore
package import RollcallCore
package import RollcallModel
internal import RollcallRedis

/// The sessions of one event loop, with separate connections to Redis. Create and use it on that loop only.
package final class ShardDriver {
    let eventLoop: any EventLoop
    let commands: RedisClient
    let subscriber: RedisSubscriber
    let redis: RedisStore
    package let shard: Shard
    /// Called when a connection for commands is lost.
    var onRedisLost: ((RedisError) -> Void)?
    var onRedisConnected: (() -> Void)?
    /// Called when the worker must write all its data again, under a new incarnation.
    var onAssertAnew: ((AssertionReason) -> Void)?
    /// Called when reads find devices of dead workers.
    var onDeadMet: (([DeadDevice]) -> Void)?
    /// Called when a connection leads to another server than the worker's heartbeats, with which one.
    var onSplit: ((String) -> Void)?
    var split: SplitCheck?
    /// Called for messages to this worker.
    var onNotice: ((WorkerNotice) -> Void)?

    let authenticator: (any TokenVerifier)?
    package let seats: UserSeats
    let logger: Logger
    let problems: ProblemLog
    /// The metrics of the edge on this loop, if the worker has one.
    package var edge: (any LoopReports)?
    /// Where the shard reports its metrics.
    package let factory: any MetricsFactory
    private var metrics: LoopMetrics?
    /// The rules by which tokens of the issuer were refused.
    var refusedTokens: [AuthenticationError.Code: RepeatedProblem] = [:]
    private var isStopped = false
    private var timer: Scheduled<Void>?

    init(
        _ settings: NodeSettings, of topology: Topology, authenticator: (any TokenVerifier)?, seats: UserSeats,
        on eventLoop: any EventLoop, problems: ProblemLog, metrics factory: any MetricsFactory
    ) {
        self.eventLoop = eventLoop
        self.authenticator = authenticator
        self.seats = seats
        self.problems = problems
        logger = problems.logger
        self.factory = factory
        commands = RedisClient(
            of: topology, name: "rollcall-\(settings.worker)", on: eventLoop, logger: logger,
            scripts: Script.all)
        subscriber = RedisSubscriber(
            of: topology, name: "rollcall-\(settings.worker)-hears", on: eventLoop, logger: logger)
        redis = RedisStore(
            Store(on: commands, settings: settings.store), subscriber: subscriber, on: eventLoop, problems: problems)
        var decisions = settings.shard
        decisions.isSpread = commands.isSpread
        shard = Shard(
            settings: decisions, worker: settings.worker, store: redis, random: SystemRandomNumberGenerator(),
            clock: RedisClock(time: .hostTime, sent: Self.now))
        shard.host = self
        metrics = LoopMetrics(of: self, in: factory)
    }

    func start() {
        commands.onConnect = { [weak self] in self?.onRedisConnected?() }
        commands.onDisconnect = { [weak self] error in self?.onRedisLost?(error) }
        commands.onDenied = { [problems] in problems.denied($0) }
        subscriber.onDenied = { [problems] in problems.denied($0) }
        subscriber.onDisconnect = { [problems] in problems.warning("a connection for messages lost", $0) }
        subscriber.onLost = { [weak self] topics in
            for topic in topics { self?.shard.subscriptionLost(topic) }
            self?.split?.connectionLost()
        }
        subscriber.onSubscribed = { [weak self] topics in self?.subscribed(topics) }
        subscriber.onMessage = { [weak self] topic, payload in
            payload.withUnsafeReadableBytes { self?.heard($0, on: topic) }
        }
        redis.onSubscribed = { [weak self] topic in self?.subscribed([topic]) }
        commands.start()
        subscriber.start()
        metrics?.start()
    }

    func stop() -> EventLoopFuture<Void> {
        isStopped = true
        metrics?.stop()
        metrics = nil
        timer?.cancel()
        timer = nil
        return commands.close().and(subscriber.close()).map { _ in }
    }

    private static var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    private func subscribed(_ topics: [Topic]) {
        shard.after { shard, now in for topic in topics { shard.subscribed(topic, at: now) } }
    }
}

extension ShardDriver: Host {
    package var now: Instant { Self.now }

    package func endTickSoon() {
        eventLoop.assumeIsolated().execute { [self] in shard.endTick() }
    }

    package func wake(at instant: Instant) {
        guard !isStopped else { return }
        timer?.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, instant.nanoseconds)))
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            shard.after { $0.timePassed(at: $1) }
        }
    }

    package func assertAnew(_ reason: AssertionReason) { onAssertAnew?(reason) }

    package func sweep(_ devices: [DeadDevice]) { onDeadMet?(devices) }

    package func mended(_ records: Int) {
        logger.warning("an audit repaired records", metadata: ["count": "\(records)"])
    }

    package func received(_ notice: WorkerNotice) { onNotice?(notice) }

    package func couldNotRead(_ change: Any.Type) {
        logger.debug("a published change could not be read", metadata: ["type": "\(change)"])
    }
}
