// One event loop of a worker: the real decisions, and an interpreter of what they want done, which mirrors the one that
// a worker runs.

internal import RedisTwin
internal import RollcallCore
internal import RollcallModel

/// A shard with its connections.
final class SimulatedShard {
    let name: String
    let process: Process
    let commands: CommandLink
    let store: SimulatedStore
    let shell: ShardShell
    var onRedisLost: () -> Void = {}
    var onRedisForgot: () -> Void = {}
    var onDeadMet: ([DeadDevice]) -> Void = { _ in }
    var onNotice: (WorkerNotice) -> Void = { _ in }

    unowned let world: World
    private let subscriber: SubscriberLink
    private var edges: [Session: EdgeSession] = [:]
    /// The most sessions that were open at once.
    private(set) var mostOpen = 0
    private var lingeringDropped = 0
    /// Sessions without a connection were dropped, since there were too many.
    var onDropped: () -> Void = {}
    private var timer: Instant?

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
        shell = ShardShell(Shard(settings: settings, worker: worker, random: process.chance.kept(), clock: clock))
        shell.host = self
    }

    func start() {
        commands.onDisconnect = { [unowned self] in onRedisLost() }
        subscriber.onDisconnect = { [unowned self] in shell.shard.subscriptionsLost() }
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

    /// Lets an event happen to the shard, and carries out what follows from it.
    func after(_ event: ShardEvent) { shell.after(event) }

    var shard: Shard { shell.shard }

    /// What sessions have said counts from the moment at which the shard takes it.
    func happened(_ actions: [ShardAction]) {
        mostOpen = max(mostOpen, shard.openSessionCount)
        if shard.tally.lingeringDropped > lingeringDropped {
            lingeringDropped = shard.tally.lingeringDropped
            world.bounds.met(.lingering)
            onDropped()
        }
        for edge in openEdges {
            guard let key = edge.key else { continue }
            edge.waits(forBudget: shard.waitsForBudget(key))
            if let held = shard.heldMessageCount(of: key) { edge.taken(allBut: held) }
        }
        for case .close(let key, .goodbye) in actions { edges[key]?.takenUntilGoodbye() }
    }

    // MARK: The edge's side

    func connected(_ edge: EdgeSession) {
        let key = shell.shard.connected(at: process.now)
        edge.key = key
        edges[key] = edge
        shell.wakeInTime()
    }

    func received(_ request: ClientRequest, on edge: EdgeSession) {
        guard let key = edge.key, edges[key] === edge else { return }
        after { shard, now in
            var actions = shard.received(request, on: key, at: now)
            if world.settings.planted == .readsAllAgain, case .state = request.message {
                let read = StoreRequest.ReadPresence(
                    world.users, isAuthoritative: false, known: shard.known(at: now))
                actions.append(.store(.readPresence(read)))
            }
            let isTaken = shard.heldMessageCount(of: key) ?? 0 == 0
            world.checks.checkWork(of: request.message, isTaken: isTaken, actions, for: edge)
            return actions
        }
    }

    func fellBehind(_ edge: EdgeSession) {
        if let key = edge.key, edges[key] === edge { shell.shard.fellBehind(key) }
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

    // MARK: Carrying out

    func carryOut(_ action: ShardAction) {
        switch action {
        case .send(let message, let keys), .sendSparing(let message, let keys, _): send(message, to: keys)
        case .hold(let key): edges[key]?.hold()
        case .listen(let key) where world.settings.planted == .neverListens: edges[key]?.hold()
        case .listen(let key): edges[key]?.listen()
        case .limitHit(.messageRate, let key) where world.settings.planted == .closesTalkative:
            after { $0.refused(key, .flood, at: $1) }
        case .limitHit(let limit, _): met(limit)
        case .sendSnapshot(let message, let key): send(message, to: [key])
        case .tellWhenDrained(let key):
            world.bounds.met(.showBatch)
            if world.settings.planted == .forgetsTheRest { break }
            edges[key]?.tellWhenDrained()
        case .close(let key, let end):
            edges.removeValue(forKey: key)?.close(end.code)
        case .authenticate(let key, let token, let device, let id):
            authenticate(key, token: token.string, device: device, id: id)
        case .subscribe(let topic): subscribe(topic)
        case .unsubscribe(let topic): subscriber.unsubscribe(topic)
        case .assertAnew: onRedisForgot()
        case .sweep(let devices): onDeadMet(devices)
        case .store(let request): ask(request)
        }
    }

    private func authenticate(_ key: Session, token: String, device: DeviceID?, id: MessageID?) {
        guard let device else { return }
        guard world.settings.usesTokens else {
            guard let user = try? UserID(token) else { return }
            return after { $0.authenticated(key, user: user, device: device, id: id, at: $1) }
        }
        guard let token = world.token(token), token.expires > process.now else {
            edges[key]?.showedExpiredToken = true
            return after { $0.refused(key, .tokenExpired(), at: $1) }
        }
        guard shard.heldMessageCount(of: key) != nil else { return }
        let isNewer = edges[key].map { $0.token.map { $0.issued <= token.issued } ?? true } ?? false
        if isNewer { edges[key]?.token = token }
        let planted = world.settings.planted
        let lifetime = planted == .tokenNeverExpires ? nil : token.expires - process.now
        let issued = planted == .revocationSpares ? nil : world.redis.hostTime(at: token.issued)
        after {
            $0.authenticated(
                key, user: token.user, device: device, lifetime: lifetime, issued: issued, id: id, at: $1)
        }
    }

    /// Writes a message as JSON once, as devices read it.
    private func send(_ message: ServerMessage, to keys: [Session]) {
        let codec = MessageCodec()
        guard let read = try? codec.message(from: codec.json(of: message)), read == message else {
            return world.checks.fail("text", "\(name) says \(message.text), which is read as something else")
        }
        if world.settings.planted == .silentRefusal, case .error(let error) = read, error.code == .unavailable {
            return
        }
        for key in keys { edges[key]?.send(read) }
        switch read {
        case .typing(let typing) where typing.count > typing.users.count: world.bounds.met(.typingNames)
        case .error(let error) where error.code == .unavailable && shard.takesWrites:
            world.bounds.met(.waitingMessages)
        default: break
        }
    }

    private func met(_ limit: SessionLimit) {
        switch limit {
        case .watchedUsers: world.bounds.met(.watchedUsers)
        case .joinedConversations: world.bounds.met(.joinedConversations)
        case .messageRate: world.bounds.met(.messageRate)
        case .hello: break
        }
    }

    func subscribe(_ topic: Topic) {
        subscriber.subscribe(topic)
        if subscriber.isConfirmed(topic) {
            process.soon { [self] in after { $0.subscribed(topic, at: $1) } }
        }
    }

    func unsubscribe(_ topic: Topic) {
        subscriber.unsubscribe(topic)
    }

    // MARK: What is heard from Redis

    private func heard(_ payload: [UInt8], on topic: Topic) {
        if case .worker = topic {
            // Read as the text of this seed is, which may have a mistake on purpose.
            if let notice = store.text.notice(payload) { onNotice(notice) }
        } else {
            payload.withUnsafeBytes { shell.heard($0, on: topic) }
        }
    }
}

extension SimulatedShard: ShardHost {
    var now: Instant { process.now }

    func received(_ notice: WorkerNotice) { onNotice(notice) }

    func endTickSoon() {
        process.soon { [self] in
            shell.endTick()
            if shard.hasMoreToTell { world.bounds.met(.tellBatch) }
        }
    }

    func wake(at instant: Instant) {
        timer = instant
        process.at(instant) { [self] in
            guard timer == instant else { return }
            timer = nil
            shell.timePassed()
        }
    }
}
