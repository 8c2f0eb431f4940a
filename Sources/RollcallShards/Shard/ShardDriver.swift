// One event loop of a worker: passes events to the shard's decisions, and executes the resulting actions.

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
    let store: Store
    let shell: ShardShell
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
    let seats: UserSeats
    let logger: Logger
    let problems: ProblemLog
    /// The metrics of the edge on this loop, if the worker has one.
    package var edge: (any LoopReports)?
    var tally = DriverTally()
    /// Where the shard reports its metrics.
    package let factory: any MetricsFactory
    private var metrics: LoopMetrics?
    /// The rules by which tokens of the issuer were refused.
    var refusedTokens: [AuthenticationError.Code: RepeatedProblem] = [:]
    var occupants: [Occupant?] = []
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
        store = Store(on: commands, settings: settings.store)
        var decisions = settings.shard
        decisions.isSpread = commands.isSpread
        let shard = Shard(
            settings: decisions, worker: settings.worker, random: SystemRandomNumberGenerator(),
            clock: RedisClock(time: .hostTime, sent: Self.now))
        shell = ShardShell(shard)
        shell.host = self
        metrics = LoopMetrics(of: self, in: factory)
    }

    func start() {
        commands.onConnect = { [weak self] in self?.onRedisConnected?() }
        commands.onDisconnect = { [weak self] error in self?.onRedisLost?(error) }
        commands.onDenied = { [problems] in problems.denied($0) }
        subscriber.onDenied = { [problems] in problems.denied($0) }
        subscriber.onDisconnect = { [problems] in problems.warning("a connection for messages lost", $0) }
        subscriber.onLost = { [weak self] topics in
            for topic in topics { self?.shell.shard.subscriptionLost(topic) }
            self?.split?.connectionLost()
        }
        subscriber.onSubscribed = { [weak self] topics in self?.subscribed(topics) }
        subscriber.onMessage = { [weak self] topic, payload in
            payload.withUnsafeReadableBytes { self?.heard($0, on: topic) }
        }
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

    /// Passes an event to the shard, and executes the resulting actions.
    func after(_ event: ShardEvent) { shell.after(event) }

    private func send(
        _ message: ServerMessage, to sessions: some Collection<Session>, sparing spared: [Session] = [],
        counting: Bool = true
    ) {
        var dispatch = Dispatch(message)
        var receivers = 0
        for session in sessions where peer(of: session)?.send(&dispatch, counting: counting) == true { receivers += 1 }
        for session in spared { peer(of: session)?.spare(&dispatch) }
        tally.handed(message, to: receivers, of: sessions.count)
    }

    private func subscribed(_ topics: [Topic]) {
        after { shard, now in topics.flatMap { shard.subscribed($0, at: now) } }
    }
}

extension ShardDriver: ShardHost {
    package var now: Instant { Self.now }

    package func endTickSoon() {
        eventLoop.assumeIsolated().execute { [self] in shell.endTick() }
    }

    package func wake(at instant: Instant) {
        guard !isStopped else { return }
        timer?.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, instant.nanoseconds)))
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in shell.timePassed() }
    }

    package func received(_ notice: WorkerNotice) { onNotice?(notice) }

    package func couldNotRead(_ change: Any.Type) {
        logger.debug("a published change could not be read", metadata: ["type": "\(change)"])
    }

    package func carryOut(_ action: ShardAction) {
        switch action {
        case .send(let message, let sessions): send(message, to: sessions)
        case .sendSparing(let message, let sessions, let spared): send(message, to: sessions, sparing: spared)
        case .sendSnapshot(let message, let session): send(message, to: CollectionOfOne(session), counting: false)
        case .tellWhenDrained(let session):
            peer(of: session)?.tellWhenDrained()
        case .close(let session, let end): vacate(session)?.close(end)
        case .hold(let session): peer(of: session)?.hold()
        case .listen(let session): peer(of: session)?.listen()
        case .limitHit(let limit, let session):
            peer(of: session)?.limitHit(Limit(limit))
        case .authenticate(let session, let token, let device, let id):
            authenticate(session, token: token, device: device, id: id)
        case .subscribe(let topic):
            // The topic was unsubscribed and subscribed again within one tick. The subscription is still active, so no
            // confirmation arrives, unless it is lost before the next tick.
            let channel = store.names.channel(of: topic)
            guard subscriber.subscribe(channel, as: topic) else { break }
            eventLoop.assumeIsolated().execute { [self] in
                if subscriber.isConfirmed(channel) { subscribed([topic]) }
            }
        case .unsubscribe(let topic):
            subscriber.unsubscribe(store.names.channel(of: topic))
        case .assertAnew(let reason): onAssertAnew?(reason)
        case .sweep(let devices): onDeadMet?(devices)
        case .store(let request): ask(request)
        }
    }
}
