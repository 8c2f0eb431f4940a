// Sends the worker's heartbeat: one script per beat for the whole worker. It has a separate connection, because after
// an outage a shard's pipeline may take Redis longer than a lease.

internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallProtocol
internal import RollcallRedis

/// Executes the decisions of the worker's lease coordinator. Runs on the first shard's event loop.
final class LeaseDriver {
    private let driver: ShardDriver
    private let commands: RedisClient
    private let store: Store
    /// The shards that have not reached Redis yet. Heartbeats wait for them, because a worker with a lease must be able
    /// to serve.
    private var awaited: Set<Int>
    private let settings: NodeSettings
    private let logger: Logger
    private let describe: (LeaseCoordinator.Beat) -> Heartbeat
    private let tell: (LeaseNews) -> Void
    private let denied: (RedisError) -> Void
    private let standing: () -> Standing
    private let gather: () -> EventLoopFuture<LoopFigures>
    private var isGathering = false
    /// Whether Redis may delete keys to make room.
    var mayEvict = false
    private(set) var pulse = WorkerPulse()
    private var missing = MissingLinks()
    private let lacks: (ContinuousClock.Instant?) -> Void
    private var tally = LeaseTally()
    private var metrics: WorkerTapes
    private var nextReport: Scheduled<Void>?
    private var coordinator: LeaseCoordinator
    private var nextBeat: Scheduled<Void>?
    /// When to take a new incarnation because data may be lost, although the lease is held.
    private var nextRenewal: Scheduled<Void>?
    /// The reasons for it that were logged.
    private var renewalReasons: Set<AssertionReason> = []
    private var isDraining = false
    /// Why the last failed heartbeat failed.
    private(set) var refusal: RedisError?
    /// Whether there is a connection and heartbeats fail, most often because Redis refuses writes.
    private var refusesWrites = false
    /// Failed heartbeats while Redis refuses them.
    private var complaint = RepeatedProblem()
    /// How far this host's clock is ahead of Redis's.
    private var clockAhead: Duration?
    private var wrongClock = RepeatedProblem()
    private var eventsRefused = RepeatedProblem()
    private var unsettled = RepeatedProblem()
    /// Lost connections while there is no lease.
    private var loss = RepeatedProblem()
    private let problems: ProblemLog
    private let reconnect: (RedisError) -> Void
    /// When all connections were last told to connect again, because they led to different servers.
    private var reunited: NIODeadline?
    /// Whether Redis published the message of the last heartbeat, which takes a right.
    private var isPublished = false

    /// How long shutdown waits for the addresses of other workers. Without them, devices reconnect as they first
    /// connected.
    private static let handoverTime = TimeAmount.milliseconds(500)
    /// The time for all shards to reach a primary.
    private static let renewalPause = TimeAmount.milliseconds(200)

    /// - Parameters:
    ///   - shards: The number of shards; ``shardConnected(_:)`` reports each.
    ///   - denied: Called if Redis does not allow a heartbeat.
    ///   - reconnect: Makes all of the worker's connections to Redis connect again.
    ///   - lacks: Called with each heartbeat, with since when a connection is missing that the worker should have.
    ///   - gather: Collects the counters of all shards, on this event loop.
    init(
        _ settings: NodeSettings, of topology: Topology, on driver: ShardDriver, shards: Int, problems: ProblemLog,
        metrics: WorkerTapes, reconnect: @escaping (RedisError) -> Void,
        describe: @escaping (LeaseCoordinator.Beat) -> Heartbeat, tell: @escaping (LeaseNews) -> Void,
        denied: @escaping (RedisError) -> Void,
        lacks: @escaping (ContinuousClock.Instant?) -> Void, standing: @escaping () -> Standing,
        gather: @escaping () -> EventLoopFuture<LoopFigures>
    ) {
        self.settings = settings
        self.driver = driver
        self.problems = problems
        self.reconnect = reconnect
        logger = problems.logger
        awaited = Set(0..<shards)
        commands = RedisClient(
            of: topology, name: "rollcall-\(settings.worker)-beats", on: driver.eventLoop, logger: logger,
            scripts: Script.all)
        store = Store(on: commands, settings: settings.store)
        self.describe = describe
        self.tell = tell
        self.denied = denied
        (self.lacks, self.standing) = (lacks, standing)
        self.gather = gather
        self.metrics = metrics
        let (names, isSpread) = (settings.store.names, commands.isSpread)
        coordinator = LeaseCoordinator(
            worker: settings.worker, lease: settings.lease, heartbeat: settings.heartbeat,
            random: SystemRandomNumberGenerator(),
            placing: { isSpread ? names.besideLeases($0) : $0 })
    }

    /// Connects and starts the heartbeats.
    func start() {
        commands.onConnect = { [weak self] in self?.beat() }
        commands.onDisconnect = { [weak self] error in self?.connectionLost(error) }
        commands.onDenied = { [problems] in problems.denied($0) }
        commands.onUnreachable = { [problems] in problems.unreachable($0, $1) }
        commands.start()
        beatLater()
        report()
    }

    /// Whether a heartbeat can be sent.
    var isConnected: Bool { commands.isConnected(for: store.names.workers) }

    func stop() -> EventLoopFuture<Void> {
        nextBeat?.cancel()
        nextReport?.cancel()
        nextRenewal?.cancel()
        metrics.withdraw()
        return commands.close()
    }

    private func beatLater() {
        let interval = TimeAmount(coordinator.pause(at: driver.now))
        nextBeat = driver.eventLoop.assumeIsolated().scheduleTask(in: interval) { [weak self] in
            self?.beat()
            self?.gatherFigures()
            self?.beatLater()
        }
    }

    /// Collects data for the next heartbeat. A slow loop delays neither the collection nor the heartbeat.
    private func gatherFigures() {
        guard !isGathering else { return }
        isGathering = true
        gather().assumeIsolated().whenComplete { [weak self] result in
            self?.isGathering = false
            guard case .success(let figures) = result, let self else { return }
            pulse.gathered(figures)
            let own = driver.links(.heartbeats, commands.links)
            missing.observe(figures.links.merging(own) { $1 }, at: .now)
            lacks(missing.first)
        }
    }

    private func report() {
        pulse.secondPassed(commands.tally.roundTrips)
        let settling = coordinator.settling(at: driver.now)
        complain(ofSettling: settling)
        metrics.report(
            tally, clockAhead: clockAhead, mayEvict: mayEvict, settling: settling,
            holdsLease: coordinator.incarnation != nil && !refusesWrites,
            refusesWrites: refusesWrites,
            at: .now())
        metrics.report(standing())
        metrics.report(commands, isUp: isConnected)
        nextReport = driver.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [weak self] in self?.report() }
    }

    /// A shard has reached Redis: work that failed without it is retried with a heartbeat now, not at the next
    /// interval.
    func shardConnected(_ index: Int) {
        let isFirst = awaited.remove(index) != nil
        if commands.isSpread, !isFirst { renewLater() }
        beat()
    }

    /// A shard lost Redis. If it is one primary of several, the lease continues while its own primary is available.
    /// Writes for the lost primary follow when it or its replacement is back.
    func shardLost(_ error: RedisError) {
        if !commands.isSpread { redisChanged(error) }
    }

    private func connectionLost(_ error: RedisError) {
        guard commands.isSpread, isConnected else { return redisChanged(error) }
        logger.warning("a primary of Redis lost", metadata: ["reason": "\(error)"])
    }

    /// A shard requests a new incarnation. Several may do so at the same time, for the same reason.
    func assertAnew(_ reason: AssertionReason) {
        if renewalReasons.insert(reason).inserted {
            switch reason {
            case .forgotten: logger.warning("a primary of Redis has lost its data")
            case .sessionsDropped: logger.warning("too many sessions without a connection; the oldest were dropped")
            }
        }
        renewLater()
    }

    /// A primary is back or was replaced, and may lack the last writes. All shards detect this within moments, and one
    /// new incarnation is enough for all.
    private func renewLater() {
        guard nextRenewal == nil else { return }
        nextRenewal = driver.eventLoop.assumeIsolated().scheduleTask(in: Self.renewalPause) { [weak self] in
            guard let self else { return }
            (nextRenewal, renewalReasons) = (nil, [])
            // Without an incarnation, a new one starts anyway.
            guard coordinator.incarnation != nil else { return }
            carryOut(coordinator.redisChanged())
            beat()
        }
    }

    /// Redis may have lost earlier writes.
    private func redisChanged(_ error: RedisError) {
        // Every connection reports it; one log line is enough.
        let isNew = loss.occurred("\(error.code)", at: .now)
        if isNew || coordinator.incarnation != nil { logger.warning("Redis lost", metadata: ["reason": "\(error)"]) }
        carryOut(coordinator.redisChanged())
    }

    /// A connection leads to another server than this one's. All connect again, at most once a lease, and not at the
    /// same moment as those of other workers.
    func split(_ reason: String) {
        guard isPublished, reunited.map({ .now() - $0 >= TimeAmount(settings.lease) }) ?? true else { return }
        reunited = .now()
        logger.error(
            "the connections to Redis lead to different servers, and all connect again",
            metadata: ["reason": "\(reason)", "redis": "\(settings.redis)"])
        let pause = TimeAmount(settings.heartbeat * Double.random(in: 0...1))
        driver.eventLoop.assumeIsolated().scheduleTask(in: pause) { [reconnect, commands] in
            let error = RedisError(.primaryChanged, "connections led to different servers")
            commands.reconnect(because: error)
            reconnect(error)
        }
    }

    /// All connections connect again, where the name of Redis leads now.
    func move() -> EventLoopFuture<Void> {
        let error = RedisError(.primaryChanged, "the name of Redis leads to another server")
        commands.reconnect(because: error)
        reconnect(error)
        return driver.eventLoop.makeSucceededVoidFuture()
    }

    /// Reads found something of dead incarnations.
    func met(_ items: [HeldItem]) {
        coordinator.met(items)
    }

    /// Tells the other workers that this one is leaving.
    ///
    /// - Returns: The workers that its devices may move to.
    func handOver() -> EventLoopFuture<[Destination]> {
        isDraining = true
        return destinations(mean: nil)
    }

    /// The workers that devices may move to.
    ///
    /// - Parameter mean: How many sessions each is to have; `nil` if this worker is leaving.
    func destinations(mean: Int?) -> EventLoopFuture<[Destination]> {
        let found = driver.eventLoop.makePromise(of: [Destination].self)
        guard isConnected, let incarnation = coordinator.incarnation else {
            found.succeed([])
            return found.futureResult
        }
        let news = heartbeat(.renew(incarnation))
        store.heartbeat(news) { [self] result in
            let others = (try? result.get()).map { Handover.candidates(in: $0, besides: incarnation) } ?? []
            store.cards(of: others) { [peers = settings.peers] cards in
                let cards = (try? cards.get()) ?? []
                found.succeed(
                    Handover.destinations(cards, from: news.edge, peers: peers, mean: mean, sessions: news.sessions))
            }
        }
        let late = driver.eventLoop.scheduleTask(in: Self.handoverTime) { found.succeed([]) }
        found.futureResult.whenComplete { _ in late.cancel() }
        return found.futureResult
    }

    /// Ends the lease after the grace period, so that devices that reconnect within it stay online.
    func end(after grace: Duration) -> EventLoopFuture<Void> {
        nextBeat?.cancel()
        let done = driver.eventLoop.makePromise(of: Void.self)
        if let last = coordinator.ending(after: grace) {
            store.heartbeat(heartbeat(last)) { _ in done.succeed() }
        } else {
            done.succeed()
        }
        return done.futureResult
    }

    private func beat() {
        guard isConnected, awaited.isEmpty else { return }
        carryOut(coordinator.beatDue(at: driver.now))
    }

    private func carryOut(_ actions: [LeaseCoordinator.Action]) {
        for action in actions {
            switch action {
            case .beat(let beat): send(beat)
            case .hear(let incarnation): hear(incarnation)
            case .tell(let news):
                noted(news)
                tell(news)
            case .claim(let dead, let incarnation): claim(dead, by: incarnation)
            case .sweep(let items, let dead): sweep(items, of: dead)
            case .forget(let dead):
                tally.sweptIncarnations += 1
                logger.info("swept a dead worker", metadata: ["incarnation": "\(dead)"])
                store.forget(dead) { [self] _ in coordinator.deletionReplied(dead) }
            }
        }
    }

    private func send(_ beat: LeaseCoordinator.Beat) {
        let sent = NIODeadline.now()
        // When the heartbeat is answered, all subscribers have been sent this.
        if case .renew(let incarnation) = beat, !commands.isSpread {
            store.publishBeat(of: incarnation) { [self] in isPublished = (try? $0.get()) != nil }
        }
        store.heartbeat(heartbeat(beat)) { [self] result in
            switch result {
            case .success(let snapshot):
                let roundTrip = Duration.nanoseconds((NIODeadline.now() - sent).nanoseconds)
                pulse.heartbeatAnswered(after: roundTrip)
                compareClocks(snapshot.time, within: roundTrip)
                answered(beat, snapshot)
            case .failure(let error):
                tally.heartbeatsFailed += 1
                refusal = error
                if error.isDenied { denied(error) }
                complain(of: error)
                carryOut(coordinator.heartbeatReplied(beat, .failure(error) as Result, at: driver.now))
            }
        }
    }

    /// - Parameter roundTrip: the time in which Redis told its own.
    private func compareClocks(_ time: Timestamp, within roundTrip: Duration) {
        let ahead = Timestamp.hostTime.since(time) - roundTrip / 2
        clockAhead = ahead
        guard let tolerance = settings.clockTolerance, abs(ahead / .seconds(1)) > (tolerance + roundTrip) / .seconds(1)
        else { return wrongClock.ended() }
        guard wrongClock.occurred("", at: .now) else { return }
        logger.error(
            "this host's clock and Redis's differ by more than auth.leeway",
            metadata: ["ahead": "\(Duration.milliseconds(ahead.milliseconds))"])
    }

    /// Logs failed heartbeats while Redis refuses them: each new reason at once, and then every minute.
    private func complain(of error: RedisError) {
        guard complaint.occurred("\(error)", at: .now) else { return }
        logger.warning("heartbeat failed", metadata: ["reason": "\(error)"])
    }

    /// Logs that outages have not settled after twice the time that one takes. While Redis is away or refuses writes, other
    /// lines say so.
    private func complain(ofSettling time: Duration) {
        guard time >= settings.lease * 2 else { return unsettled.ended() }
        guard coordinator.incarnation != nil, !refusesWrites else { return }
        guard unsettled.occurred("", at: .now) else { return }
        logger.warning(
            "outages of Redis follow one another, or it answers too late: users of dead workers still count as online",
            metadata: [
                "for": "\(Duration.milliseconds(time.milliseconds))",
                "heartbeat_answered_after": "\(Duration.milliseconds(pulse.roundTrip?.milliseconds ?? 0))",
            ])
    }

    private func noted(_ news: LeaseNews) {
        let before = refusesWrites
        refusesWrites = news.redis.refusesWrites
        guard refusesWrites != before else { return }
        if refusesWrites {
            logger.warning("Redis refuses writes", metadata: ["reason": "\(refusal.map { "\($0)" } ?? "")"])
        } else if case .lost = news {
            // The next event is logged: a new lease, or the reason why there is none.
        } else {
            logger.info("Redis takes writes again")
        }
    }

    private func heartbeat(_ beat: LeaseCoordinator.Beat) -> Heartbeat {
        var heartbeat = describe(beat)
        heartbeat.isDraining = isDraining
        heartbeat.figures = pulse.figures
        return heartbeat
    }

    private func answered(_ beat: LeaseCoordinator.Beat, _ snapshot: LeaseSnapshot) {
        let before = coordinator.incarnation
        let actions = coordinator.heartbeatReplied(
            beat, .success(snapshot) as Result<_, RedisError>, at: driver.now)
        complaint.ended()
        loss.ended()
        noted(eventsRefused: snapshot.eventsRefused)
        if snapshot.held { tally.acknowledged = .now() } else { tally.heartbeatsFailed += 1 }
        if let before, coordinator.incarnation == nil {
            logger.warning("lease lost", metadata: ["incarnation": "\(before)"])
        }
        carryOut(actions)
    }

    private func noted(eventsRefused reason: ByteString?) {
        tally.eventsRefused = reason != nil
        guard let reason else { return eventsRefused.ended() }
        guard eventsRefused.occurred("\(reason)", at: .now) else { return }
        logger.error(
            "Redis refuses to append events; a reset follows once it takes them", metadata: ["reason": "\(reason)"])
    }

    private func hear(_ incarnation: Incarnation) {
        tally.incarnations += 1
        // The renewal's purpose has just been served.
        nextRenewal?.cancel()
        (nextRenewal, renewalReasons) = (nil, [])
        logger.info("lease begun", metadata: ["incarnation": "\(incarnation)"])
    }

    private func claim(_ dead: Incarnation, by incarnation: Incarnation) {
        store.claimSweep(of: dead, by: incarnation, limit: Sweeper.batch) { [self] result in
            carryOut(coordinator.claimReplied(dead, result))
        }
    }

    private func sweep(_ items: [ListItem], of dead: Incarnation) {
        guard items.contains(where: \.session.device.isOfServer) else {
            return sweepRest(items, of: dead)
        }
        store.standing(of: dead) { [self] result in
            guard (try? result.get())?.isDead == true else { return swept(dead, isDone: false) }
            driver.shard.after { shard, _ in
                shard.adopt(items, of: dead) { [weak self] isDone in
                    guard let self else { return }
                    if isDone { sweepRest(items, of: dead) } else { swept(dead, isDone: false) }
                }
            }
        }
    }

    private func swept(_ dead: Incarnation, isDone: Bool) {
        carryOut(coordinator.sweepReplied(dead, isDone: isDone))
    }

    private func sweepRest(_ items: [ListItem], of dead: Incarnation) {
        store.sweep(items, of: dead, until: self.coordinator.until) { [self] result in
            let gone = (try? result.get()) ?? nil
            tally.sweptDevices += gone ?? 0
            swept(dead, isDone: gone != nil)
        }
    }
}
