// One event loop of a worker: carries what happens there to the decisions, and carries out what they decide.

internal import Logging
internal import Metrics
internal import NIOCore
internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

/// The sessions of one event loop, with connections to Redis of their own. Made and used on that loop only.
final class ShardDriver {
    let eventLoop: any EventLoop
    let commands: RedisCommands
    let subscriber: RedisSubscriber
    let store: Store
    var shard: Shard
    /// Told whenever a connection for commands was lost, and stands.
    var onRedisLost: ((RedisError) -> Void)?
    var onRedisConnected: (() -> Void)?
    /// Told when all that the worker holds is to be said again, under a new incarnation.
    var onAssertAnew: ((AssertionReason) -> Void)?
    /// Told of devices of dead workers that reads have met.
    var onDeadMet: (([DeadDevice]) -> Void)?
    /// Told of messages to this worker.
    var onNotice: ((WorkerNotice) -> Void)?

    let authenticator: Authenticator
    let seats: UserSeats
    let logger: Logger
    /// How long a connection may take until its session is welcomed.
    let helloTime: Duration
    /// The edge on this loop, if the worker has one.
    weak var edge: EdgeLoop?
    var tally = DriverTally()
    private var metrics: LoopMetrics?
    var hasMetForeignKey = false
    /// When a missing right was last told of.
    private var deniedAt: Instant?
    /// By which rules tokens were refused that the issuer did sign.
    var refusedTokens: [AuthenticationError.Code: RepeatedProblem] = [:]
    var occupants: [Occupant?] = []
    private var isTickScheduled = false
    private var isStopped = false
    private var timer: (at: Instant, task: Scheduled<Void>)?

    init(
        _ settings: NodeSettings, along route: any RedisRoute, authenticator: Authenticator, seats: UserSeats,
        on eventLoop: any EventLoop, logger: Logger, metrics factory: any MetricsFactory
    ) {
        self.eventLoop = eventLoop
        self.authenticator = authenticator
        self.seats = seats
        self.logger = logger
        helloTime = settings.shard.hello
        commands = RedisCommands(
            along: route, name: "rollcall-\(settings.worker)", on: eventLoop, logger: logger,
            scripts: Script.all)
        subscriber = RedisSubscriber(
            along: route, name: "rollcall-\(settings.worker)-hears", on: eventLoop, logger: logger)
        store = Store(on: commands, settings: settings.store)
        var decisions = settings.shard
        decisions.isSpread = commands.isSpread
        shard = Shard(
            settings: decisions, worker: settings.worker, random: SystemRandomNumberGenerator(),
            clock: RedisClock(time: .hostTime, sent: Self.now))
        metrics = LoopMetrics(of: self, in: factory)
    }

    func start() {
        commands.whenConnected { [weak self] in self?.onRedisConnected?() }
        commands.whenLost { [weak self] error in self?.onRedisLost?(error) }
        commands.whenDenied { [weak self] in self?.denied($0) }
        subscriber.whenDenied { [weak self] in self?.denied($0) }
        subscriber.whenLost { [weak self] in self?.deafened($0) }
        subscriber.whenSubscribed { [weak self] topics in self?.subscribed(topics) }
        subscriber.whenHeard { [weak self] topic, payload in self?.heard(payload, on: topic) }
        commands.start()
        subscriber.start()
        metrics?.start()
    }

    func stop() -> EventLoopFuture<Void> {
        isStopped = true
        metrics?.stop()
        metrics = nil
        timer?.task.cancel()
        timer = nil
        return commands.close().and(subscriber.close()).map { _ in }
    }

    /// A right was taken away while the worker ran. It may be asked for many times a second; once a minute is told.
    private func denied(_ error: RedisError) {
        if let deniedAt, now < deniedAt + .seconds(60) { return }
        deniedAt = now
        logger.error(
            "Redis does not allow what a worker does",
            metadata: ["reason": "\(error)", "rights": "\(WorkerRights.file(isCluster: commands.isSpread))"])
    }

    var now: Instant { Self.now }

    private static var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    /// Lets an event happen to the shard, and carries out what follows from it.
    func after(_ event: (inout Shard, Instant) -> [ShardAction]) {
        carryOut(event(&shard, now))
        scheduleTick()
        rearm()
    }

    // MARK: Carrying out

    /// How many sessions one command lists.
    private static let listBatch = 1000

    /// Carries out actions in order. Sessions that are listed one after the other, as after an outage, are listed
    /// together.
    private func carryOut(_ actions: [ShardAction]) {
        var index = actions.startIndex
        while index < actions.endIndex {
            guard case .list(let name, let incarnation, let until, let key) = actions[index] else {
                carryOut(actions[index])
                index += 1
                continue
            }
            var batch = [(name, key)]
            index += 1
            while index < actions.endIndex, batch.count < Self.listBatch,
                case .list(let next, incarnation, until, let nextKey) = actions[index]
            {
                batch.append((next, nextKey))
                index += 1
            }
            list(batch, under: incarnation, until: until)
        }
    }

    private func carryOut(_ action: ShardAction) {
        switch action {
        case .send(let message, let keys): send(message, to: keys)
        case .sendSparing(let message, let keys, let spared): send(message, to: keys, sparing: spared)
        case .sendSnapshot(let message, let key): send(message, to: CollectionOfOne(key), counting: false)
        case .tellWhenDrained(let key):
            peer(of: key)?.tellWhenDrained()
        case .close(let key, let code):
            vacate(key)?.close(code)
        case .hold(let key): peer(of: key)?.hold()
        case .listen(let key): peer(of: key)?.listen()
        case .limitHit(let limit, let key):
            peer(of: key)?.limitHit(Limit(limit))
        case .authenticate(let key, let token, let device, let id):
            authenticate(key, token: token, device: device, id: id)
        case .subscribe(let topic):
            // Left and wanted again within one tick: the subscription stands, and no confirmation will come, but if it is
            // lost before the next.
            let channel = store.names.channel(of: topic)
            guard subscriber.subscribe(channel, as: topic) else { break }
            eventLoop.assumeIsolated().execute { [self] in
                if subscriber.isConfirmed(channel) { subscribed([topic]) }
            }
        case .unsubscribe(let topic):
            subscriber.unsubscribe(store.names.channel(of: topic))
        case .assertAnew(let reason): onAssertAnew?(reason)
        case .sweep(let devices): onDeadMet?(devices)
        case .list, .unlist, .write, .announceReplaced, .signalTyping, .stopTyping, .readRoom, .readPresence,
            .getPresence, .audit:
            ask(action)
        }
    }

    private func send(
        _ message: ServerMessage, to keys: some Collection<SessionKey>, sparing spared: [SessionKey] = [],
        counting: Bool = true
    ) {
        var dispatch = Dispatch(message)
        var receivers = 0
        for key in keys where dispatch.send(to: peer(of: key), counting: counting) { receivers += 1 }
        for key in spared { dispatch.spare(peer(of: key)) }
        tally.handed(message, to: receivers, of: keys.count)
    }

    // MARK: What is heard from Redis

    private func deafened(_ lost: RedisSubscriber.Lost) {
        switch lost {
        case .everything: shard.subscriptionsLost()
        case .topics(let topics): for topic in topics { shard.subscriptionLost(topic) }
        }
    }

    private func subscribed(_ topics: [Topic]) {
        after { shard, now in topics.flatMap { shard.subscribed($0, at: now) } }
    }

    private func heard(_ payload: ByteBuffer, on topic: Topic) {
        switch topic {
        case .typing(let conversation):
            let change: TypingChange? = decoded(payload)
            after { shard, now in
                if let change { shard.typingChanged(change, in: conversation, at: now) }
                if change == nil { shard.typingUnreadable(in: conversation) }
                return []
            }
        case .presence(let user):
            let change: PresenceChange? = decoded(payload)
            after { shard, _ in
                if let change { shard.presenceChanged(change.presence) }
                if change == nil { shard.presenceUnreadable(of: user) }
                return []
            }
        case .members(let conversation):
            let change: MemberChange = decoded(payload) ?? .reset
            after { $0.memberChanged(change, in: conversation, at: $1) }
        case .worker:
            if let notice = WorkerNotice(payload: payload.readableBytesView) { onNotice?(notice) }
        }
    }

    /// A payload that cannot be read is another version's, or nobody's: then what it is about is read.
    private func decoded<Change: JSONReadable>(_ payload: ByteBuffer) -> Change? {
        do {
            return try payload.withUnsafeReadableBytes { try Change(jsonText: $0) }
        } catch {
            logger.debug("a published change could not be read", metadata: ["type": "\(Change.self)"])
            return nil
        }
    }

    // MARK: Time

    /// Looks at something of the shard. To read a property of a class's value copies all of the value; this does not.
    private func glance<Part>(_ look: (inout Shard) -> Part) -> Part { look(&shard) }

    private func scheduleTick() {
        guard !isTickScheduled else { return }
        isTickScheduled = true
        eventLoop.assumeIsolated().execute { [self] in
            isTickScheduled = false
            for action in shard.tickEnded(at: now) { carryOut(action) }
            if glance({ $0.hasMoreToTell }) { scheduleTick() }
            rearm()
        }
    }

    func rearm() {
        guard !isStopped, let next = glance({ $0.nextDeadline }) else { return }
        if let timer, timer.at <= next { return }
        timer?.task.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, next.nanoseconds)))
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            timer = nil
            after { $0.timePassed(at: $1) }
        }
        timer = (next, task)
    }
}
