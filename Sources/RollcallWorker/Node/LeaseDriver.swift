// The worker's heartbeat: one script a beat for the whole worker, on the first shard's connection.

internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

/// Keeps the worker's lease, tells all shards what each heartbeat brought, and sweeps the dead. Lives on the first
/// shard's event loop.
final class LeaseDriver {
    /// What the shards are to be told.
    enum News: Sendable {
        case began(Incarnation, isFirst: Bool, until: Timestamp, clock: RedisClock)
        case heartbeat(LeaseSnapshot, until: Timestamp, clock: RedisClock)
        case lost
    }

    private let driver: ShardDriver
    private let settings: NodeSettings
    private let logger: Logger
    private let describe: (LeaseKeeper.Beat) -> Heartbeat
    private let tell: (News) -> Void
    private var keeper: LeaseKeeper
    private var sweeper = Sweeper()
    private var random = SystemRandomNumberGenerator()
    private var nextBeat: Scheduled<Void>?
    private var hearing: Incarnation?
    /// How often Redis was lost. Where it was another shard's connection, replies to the beats before may still come.
    private var life = 0

    /// How many sessions of a dead incarnation one sweep's batch takes.
    private static let sweepBatch = 100

    init(
        _ settings: NodeSettings, on driver: ShardDriver, logger: Logger,
        describe: @escaping (LeaseKeeper.Beat) -> Heartbeat, tell: @escaping (News) -> Void
    ) {
        self.settings = settings
        self.driver = driver
        self.logger = logger
        self.describe = describe
        self.tell = tell
        keeper = LeaseKeeper(
            worker: settings.worker, lease: settings.lease, heartbeat: settings.heartbeat, using: &random)
    }

    /// Beats at each interval from now on.
    func start() {
        let interval = TimeAmount.nanoseconds(settings.heartbeat.milliseconds * 1_000_000)
        nextBeat = driver.eventLoop.assumeIsolated().scheduleTask(in: interval) { [weak self] in
            self?.beat()
            self?.start()
        }
    }

    /// Redis is there: no need to wait for the next beat.
    func redisConnected() {
        beat()
    }

    /// What Redis holds may not be what was written to it.
    func redisChanged(_ error: RedisError) {
        // Every shard tells of its own connection; one line is enough for all.
        if keeper.incarnation != nil { logger.warning("Redis lost", metadata: ["reason": "\(error)"]) }
        life += 1
        keeper.redisChanged(at: driver.now, using: &random)
        tell(.lost)
    }

    /// Ends the lease in good order, so that those who come back within the grace period find it standing.
    func end(after grace: Duration) -> EventLoopFuture<Void> {
        nextBeat?.cancel()
        let done = driver.eventLoop.makePromise(of: Void.self)
        if let last = keeper.ending(after: grace) {
            driver.store.heartbeat(describe(last)) { _ in done.succeed() }
        } else {
            done.succeed()
        }
        return done.futureResult
    }

    private func beat() {
        guard driver.commands.isConnected, let beat = keeper.heartbeatDue(at: driver.now) else { return }
        send(beat)
    }

    private func send(_ beat: LeaseKeeper.Beat) {
        let (sent, life) = (driver.now, life)
        driver.store.heartbeat(describe(beat)) { [self] result in
            guard life == self.life else { return }
            switch result {
            case .success(let snapshot): answered(beat, snapshot, sent: sent)
            case .failure(let error):
                logger.warning("heartbeat failed", metadata: ["reason": "\(error)"])
                keeper.heartbeatFailed(beat)
            }
        }
    }

    private func answered(_ beat: LeaseKeeper.Beat, _ snapshot: LeaseSnapshot, sent: Instant) {
        let clock = RedisClock(time: snapshot.time, sent: sent)
        let before = keeper.incarnation
        let actions = keeper.heartbeatAnswered(beat, snapshot, at: driver.now, using: &random)
        if before != nil, keeper.incarnation == nil {
            logger.warning("lease lost", metadata: ["incarnation": "\(before?.name ?? "")"])
            tell(.lost)
        }
        for action in actions {
            switch action {
            case .beat(let beat): send(beat)
            case .began(let incarnation, let isFirst):
                logger.info("lease begun", metadata: ["incarnation": "\(incarnation)"])
                hear(incarnation)
                tell(.began(incarnation, isFirst: isFirst, until: keeper.until, clock: clock))
            }
        }
        guard keeper.incarnation != nil else { return }
        tell(.heartbeat(snapshot, until: keeper.until, clock: clock))
        sweep(snapshot)
    }

    /// Messages to this worker come under the name of its incarnation.
    private func hear(_ incarnation: Incarnation) {
        if let hearing { driver.subscriber.unsubscribe(driver.store.names.channel(of: .worker(hearing))) }
        hearing = incarnation
        driver.subscriber.subscribe(driver.store.names.channel(of: .worker(incarnation)))
    }

    // MARK: Sweeping

    private func sweep(_ snapshot: LeaseSnapshot) {
        guard keeper.maySweep(at: driver.now) else { return }
        carryOut(sweeper.died(snapshot.passed))
    }

    private func carryOut(_ actions: [Sweeper.Action]) {
        for action in actions {
            switch action {
            case .claim(let dead): claim(dead)
            case .sweep(let sessions, let dead): sweep(sessions, of: dead)
            case .forget(let dead):
                logger.info("swept a dead worker", metadata: ["incarnation": "\(dead)"])
                driver.store.forget(dead) { [self] _ in sweeper.ended(dead) }
            }
        }
    }

    private func claim(_ dead: Incarnation) {
        guard let incarnation = keeper.incarnation else { return sweeper.ended(dead) }
        driver.store.claimSweep(of: dead, by: incarnation, limit: Self.sweepBatch) { [self] result in
            switch result {
            case .success(.held): carryOut(sweeper.claimed(dead, sessions: nil))
            case .success(.sessions(let sessions)): carryOut(sweeper.claimed(dead, sessions: sessions))
            case .failure: sweeper.ended(dead)
            }
        }
    }

    /// Sweeps a batch, then strikes it off the list: what is swept twice does no harm, what is not swept would stay.
    private func sweep(_ sessions: [SessionName], of dead: Incarnation) {
        driver.store.standing(of: dead) { [self] result in
            guard case .success(let standing) = result else { return sweeper.ended(dead) }
            var missing = sessions.count
            var failed = false
            for session in sessions {
                driver.store.sweep(session, of: dead, lastBeat: standing.beat, until: keeper.until) { [self] outcome in
                    missing -= 1
                    switch outcome {
                    case .success(.swept), .success(.kept): break
                    case .success(.expired), .failure: failed = true
                    }
                    guard missing == 0 else { return }
                    guard !failed else { return sweeper.ended(dead) }
                    strike(sessions, of: dead)
                }
            }
        }
    }

    private func strike(_ sessions: [SessionName], of dead: Incarnation) {
        driver.store.unrecord(sessions, of: dead) { [self] result in
            switch result {
            case .success: carryOut(sweeper.swept(dead))
            case .failure: sweeper.ended(dead)
            }
        }
    }
}
