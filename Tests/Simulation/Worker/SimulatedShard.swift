// One event loop of a worker: the real decisions between a simulated Redis and simulated connections.

internal import RedisTwin
internal import RollcallCore
internal import RollcallProtocol

/// A shard with its connections.
final class SimulatedShard {
    let name: String
    let process: Process
    let commands: CommandLink
    let store: SimulatedStore
    let shard: Shard
    var onRedisLost: () -> Void = {}
    var onRedisForgot: () -> Void = {}
    var onDeadMet: ([HeldItem]) -> Void = { _ in }
    var onNotice: (WorkerNotice) -> Void = { _ in }
    var onAsk: (AccessQuestion, AccessQueue.Need?) -> Void = { _, _ in }

    unowned let world: World
    private let subscriber: SubscriberLink
    private var edges: [Session: EdgeSession] = [:]
    /// The most sessions that were open at once.
    private(set) var mostOpen = 0
    private var lingeringDropped = 0
    /// Sessions without a connection were dropped, since there were too many.
    var onDropped: () -> Void = {}
    private var timer: Instant?
    /// What the message that is being received has cost so far.
    private var work: Work?
    /// The last message that was written as JSON, as devices read it.
    private var lastRead: (number: Int, message: ServerMessage?)?

    init(_ world: World, name: String, worker: String, routes: RedisRoutes, process: Process) {
        self.world = world
        self.name = name
        self.process = process
        commands = CommandLink(world, name: name, over: routes.commands, of: process)
        subscriber = SubscriberLink(world, name: "\(name)-hears", over: routes.messages, of: process)
        subscriber.confirmsEarly = world.settings.planted == .readBeforeSubscribing
        store = SimulatedStore(commands: commands, settings: world.settings)
        var settings = world.settings.shard
        if world.settings.planted == .lingersForever { settings.bounds.lingeringSessions = 10_000 }
        let clock = RedisClock(time: world.redis.hostTime(at: process.now), sent: process.now)
        let shardStore = SimulatedShardStore(store, subscriber: subscriber, in: world, of: process)
        shard = Shard(
            settings: settings, worker: worker, store: shardStore, random: process.chance.kept(), clock: clock)
        shard.host = self
        shardStore.shard = self
    }

    func start() {
        commands.onDisconnect = { [unowned self] in onRedisLost() }
        subscriber.onDisconnect = { [unowned self] in shard.subscriptionsLost() }
        subscriber.onSubscribed = { [unowned self] topic in after { $0.subscribed(topic, at: $1) } }
        subscriber.onMessage = { [unowned self] in heard($0, on: $1) }
        commands.start()
        subscriber.start()
    }

    /// - Parameter pause: how long the network holds back what was sent last.
    func stop(holdingBackFor pause: Duration) {
        commands.close(holdingBackFor: pause)
        subscriber.close()
    }

    /// Lets an event happen to the shard.
    func after(_ event: ShardEvent) {
        shard.after(event)
        happened()
    }

    /// An event has happened.
    func happened() {
        mostOpen = max(mostOpen, shard.openSessionCount)
        if shard.tally.lingeringDropped > lingeringDropped {
            lingeringDropped = shard.tally.lingeringDropped
            world.bounds.met(.lingering)
            onDropped()
        }
        for edge in openEdges {
            if let key = edge.key { edge.waits(forBudget: shard.waitsForBudget(key)) }
        }
    }

    /// Counts what the message that is being received costs.
    func works(_ more: Work) { work? += more }

    // MARK: The edge's side

    func connected(_ edge: EdgeSession) {
        let key = shard.connected(edge)
        edge.key = key
        edges[key] = edge
        world.sessions.append(LivingSession(session: key, shard: ObjectIdentifier(self)))
    }

    func received(_ request: ClientRequest, on edge: EdgeSession) {
        guard let key = edge.key, edges[key] === edge else { return }
        work = Work()
        after { shard, now in
            shard.received(request, on: key, at: now)
            if world.settings.planted == .readsAllAgain, case .state = request.message {
                works(Work(commands: world.users.count))
            }
        }
        // A message over the rate ends its session. The work of that does not count for the message.
        if let work, edges[key] === edge {
            let isTaken = shard.heldMessageCount(of: key) ?? 0 == 0
            world.checks.checkWork(of: request.message, isTaken: isTaken, work, for: edge)
        }
        work = nil
    }

    func fellBehind(_ edge: EdgeSession) {
        if let key = edge.key, edges[key] === edge { shard.fellBehind(key) }
    }

    func drained(_ edge: EdgeSession) {
        guard let key = edge.key, edges[key] === edge else { return }
        after { $0.caughtUp(key, at: $1) }
    }

    func disconnected(_ edge: EdgeSession, silence: Duration) {
        guard let key = edge.key, edges[key] === edge else { return }
        edges[key] = nil
        after { $0.disconnected(key, silence: silence, at: $1) }
    }

    /// The connections, in the order in which they came.
    var openEdges: [EdgeSession] { edges.sorted { $0.key.number < $1.key.number }.map(\.value) }

    /// The shard has closed the connection.
    func closed(_ edge: EdgeSession) {
        if let key = edge.key { edges[key] = nil }
    }

    /// A message as devices read it, after it was written as JSON once; `nil` if nobody is to get it.
    func read(_ delivery: Delivery) -> ServerMessage? {
        if let lastRead, lastRead.number == delivery.number { return lastRead.message }
        let message = written(delivery.message)
        lastRead = (delivery.number, message)
        return message
    }

    private func written(_ message: ServerMessage) -> ServerMessage? {
        let codec = MessageCodec()
        guard let read = try? codec.message(from: codec.json(of: message)), read == message else {
            world.checks.fail("text", "\(name) says \(message.text), which is read as something else")
            return nil
        }
        switch read {
        case .error(let error) where error.code == .unavailable:
            if world.settings.planted == .silentRefusal { return nil }
            if shard.redis.takesWrites { world.bounds.met(.waitingMessages) }
        case .typing(let typing) where typing.count > typing.users.count: world.bounds.met(.typingNames)
        default: break
        }
        return read
    }

    func subscribe(_ topic: Topic) { subscriber.subscribe(topic) }

    func unsubscribe(_ topic: Topic) { subscriber.unsubscribe(topic) }

    // MARK: What is heard from Redis

    private func heard(_ payload: [UInt8], on topic: Topic) {
        if case .worker = topic {
            // Read as the text of this seed is, which may have a mistake on purpose.
            if let notice = store.text.notice(payload) { onNotice(notice) }
        } else {
            payload.withUnsafeBytes { payload in after { $0.receive(payload, on: topic, at: $1) } }
        }
    }
}

extension SimulatedShard: Host {
    var now: Instant { process.now }

    func received(_ notice: WorkerNotice) { onNotice(notice) }
    func assertAnew(_: AssertionReason) { onRedisForgot() }
    func sweep(_ items: [HeldItem]) { onDeadMet(items) }
    func ask(_ question: AccessQuestion, _ need: AccessQueue.Need) { onAsk(question, need) }
    func withdraw(_ question: AccessQuestion) { onAsk(question, nil) }

    func endTickSoon() {
        process.soon { [self] in
            shard.endTick()
            happened()
            if shard.hasMoreToTell { world.bounds.met(.tellBatch) }
        }
    }

    func wake(at instant: Instant) {
        timer = instant
        process.at(instant) { [self] in
            guard timer == instant else { return }
            timer = nil
            after { $0.timePassed(at: $1) }
        }
    }
}
