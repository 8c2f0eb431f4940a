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
    var shard: Shard
    var onRedisLost: () -> Void = {}
    var onDeadMet: ([DeadDevice]) -> Void = { _ in }
    var onNotice: (WorkerNotice) -> Void = { _ in }

    private unowned let world: World
    private let subscriber: SubscriberLink
    private var edges: [SessionKey: EdgeSession] = [:]
    private var isTickScheduled = false
    private var timer: Instant?

    init(_ world: World, name: String, worker: String, routes: RedisRoutes, process: Process) {
        self.world = world
        self.name = name
        self.process = process
        commands = CommandLink(world, name: name, over: routes.commands, of: process)
        subscriber = SubscriberLink(world, name: "\(name)-hears", over: routes.messages, of: process)
        subscriber.confirmsEarly = world.settings.planted == .readBeforeSubscribing
        store = SimulatedStore(commands: commands, lease: world.settings.lease)
        shard = Shard(settings: world.settings.shard, worker: worker, random: process.chance.kept())
    }

    func start() {
        commands.onDisconnect = { [unowned self] in onRedisLost() }
        subscriber.onDisconnect = { [unowned self] in shard.subscriptionsLost() }
        subscriber.onSubscribed = { [unowned self] topic in after { $0.subscribed(topic, at: $1) } }
        subscriber.onMessage = { [unowned self] in heard($0) }
        commands.start()
        subscriber.start()
    }

    /// - Parameter pause: how long the network holds back what was sent last.
    func stop(holdingBackFor pause: Duration) {
        commands.close(holdingBackFor: pause)
        subscriber.close()
    }

    /// Lets an event happen to the shard, and carries out what follows from it.
    func after(_ event: (inout Shard, Instant) -> [ShardAction]) {
        for action in event(&shard, process.now) { carryOut(action) }
        scheduleTick()
        rearm()
    }

    // MARK: The edge's side

    func connected(_ edge: EdgeSession) {
        let key = shard.connected(at: process.now)
        edge.key = key
        edges[key] = edge
        rearm()
    }

    func received(_ request: ClientRequest, on edge: EdgeSession) {
        guard let key = edge.key, edges[key] === edge else { return }
        after { $0.received(request, on: key, at: $1) }
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
    var openEdges: [EdgeSession] { edges.sorted { $0.key.index < $1.key.index }.map(\.value) }

    // MARK: Carrying out

    private func carryOut(_ action: ShardAction) {
        switch action {
        case .send(let message, let keys):
            for key in keys { edges[key]?.send(message) }
        case .sendSparing(let message, let keys, _):
            for key in keys { edges[key]?.send(message) }
        case .hold, .listen, .limitHit: break
        case .sendSnapshot(let message, let key):
            edges[key]?.send(message)
        case .tellWhenDrained(let key):
            edges[key]?.tellWhenDrained()
        case .close(let key, let code):
            edges.removeValue(forKey: key)?.close(code)
        case .authenticate(let key, let token, let device, let id):
            // The token is the user's name.
            guard let user = try? UserID(token), let device else { break }
            after { $0.authenticated(key, user: user, device: device, id: id, at: $1) }
        case .subscribe(let topic): subscribe(topic)
        case .unsubscribe(let topic): subscriber.unsubscribe(topic)
        case .assertAnew: preconditionFailure("of one server nothing is forgotten but with the leases")
        case .sweep(let devices): onDeadMet(devices)
        case .list, .unlist, .write, .announceReplaced, .signalTyping, .stopTyping, .readRoom, .readPresence,
            .getPresence, .audit:
            ask(action)
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

    private func heard(_ message: Published) {
        switch message {
        case .typing, .presence, .members: after(message.news)
        case .notice(let notice, _): onNotice(notice)
        }
    }

    // MARK: Time

    private func scheduleTick() {
        guard !isTickScheduled else { return }
        isTickScheduled = true
        process.soon { [self] in
            isTickScheduled = false
            for action in shard.tickEnded(at: process.now) { carryOut(action) }
            if shard.hasMoreToTell { scheduleTick() }
            rearm()
        }
    }

    private func rearm() {
        guard let next = shard.nextDeadline else { return }
        if let timer, timer <= next { return }
        timer = next
        process.at(next) { [self] in
            guard timer == next else { return }
            timer = nil
            after { $0.timePassed(at: $1) }
        }
    }
}
