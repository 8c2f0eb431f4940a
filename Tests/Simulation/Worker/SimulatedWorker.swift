// One life of a worker's process: the coordinator, the shards, and what carries between them.

internal import RollcallCore
internal import RollcallProtocol

/// The ways from one machine to Redis.
struct RedisRoutes {
    let commands: Route
    let messages: Route
}

/// A worker from its start to its death.
final class SimulatedWorker {
    /// `worker.id`, which a later life may have again.
    let id: String
    /// The id and which of its lives this is, for the trace.
    let name: String
    /// Where it runs: links and faults belong to the place, not to the life.
    let place: Int
    /// Where an outage can keep news from this worker, and of its devices.
    let places: [Weather.Place]
    let process: Process
    private(set) var shards: [SimulatedShard] = []
    private(set) var accepts = true
    private(set) var isDraining = false
    /// Called after a last heartbeat.
    var onExit: () -> Void = {}

    private unowned let world: World
    /// The connection for heartbeats and sweeps.
    private let commands: CommandLink
    private let store: SimulatedStore
    private var awaited: Set<Int>
    private var coordinator: LeaseCoordinator
    private var hearing: Incarnation?
    /// The time from when it asks for a new incarnation by its own choice until it has it.
    private var spell: Int?
    private var arrivals = 0
    private var planted: SettlesAnew?
    /// Since when it waits for outages to settle.
    private(set) var settlingSince: Instant?
    /// What it asks the app's server, and when it next looks at that.
    private var questions = AccessQueue()
    private var asksAt: Instant?
    /// Connections that it may not have looked at yet.
    private var accepted: [EdgeSession] = []

    init(_ world: World, id: String, life: Int, place: Place) {
        self.world = world
        self.id = id
        name = life == 1 ? id : "\(id)'\(life)"
        self.place = place.index
        places = [.redis, .machine(place.index)]
        process = Process(world)
        commands = CommandLink(world, name: "\(name)-beats", over: place.routes[0].commands, of: process)
        store = SimulatedStore(commands: commands, settings: world.settings)
        awaited = Set(place.routes.indices)
        planted = SettlesAnew(world.settings)
        coordinator = LeaseCoordinator(
            worker: id, lease: world.settings.lease, heartbeat: world.settings.heartbeat,
            random: process.chance.kept())
        for (index, routes) in place.routes.enumerated() {
            let shard = SimulatedShard(world, name: "\(name).\(index)", worker: id, routes: routes, process: process)
            shards.append(shard)
        }
    }

    var incarnation: Incarnation? { coordinator.incarnation }
    var sessionCount: Int { shards.reduce(0) { $0 + $1.shard.sessionCount } }
    var edges: [EdgeSession] { shards.flatMap(\.openEdges) }

    func start() {
        world.trace.note(name, "starts")
        commands.onConnect = { [unowned self] in beat() }
        commands.onDisconnect = { [unowned self] in redisLost() }
        commands.start()
        for (index, shard) in shards.enumerated() {
            shard.commands.onConnect = { [unowned self] in carry { self.shardConnected(index) } }
            shard.onRedisLost = { [unowned self] in carry { self.redisLost() } }
            shard.onRedisForgot = { [unowned self] in carry { self.redisForgot() } }
            shard.onDropped = { [unowned self] in dropped() }
            shard.onDeadMet = { [unowned self] items in carry { self.coordinator.met(items) } }
            shard.onNotice = { [unowned self] in noticed($0) }
            shard.onAsk = { [unowned self] question, need in process.soon { self.ask(question, need, for: index) } }
            shard.start()
        }
        scheduleBeat()
    }

    /// A device connects to one of the shards.
    func accept(_ connection: Connection, from device: any Device) -> EdgeSession? {
        guard accepts, !process.isDead else { return nil }
        let shard = shards[arrivals % shards.count]
        arrivals += 1
        let edge = EdgeSession(world, at: self, shard, over: connection, from: device) { [weak device] in
            device?.received($0, over: connection)
        }
        accepted.removeAll { $0.key != nil || $0.isOver }
        accepted.append(edge)
        return edge
    }

    /// `SIGKILL`. The kernel closes its sockets.
    ///
    /// - Parameter pause: how long the network holds back what it sent last to Redis.
    func kill(holdingBackFor pause: Duration) {
        world.trace.note(name, "is killed" + (pause > .zero ? ", its last words held back for \(pause.text)" : ""))
        process.die()
        accepts = false
        // Its sessions never end, and keep each other.
        world.sessions.removeAll { session in shards.contains { ObjectIdentifier($0) == session.shard } }
        world.truth.died(self)
        leave(holdingBackFor: pause)
    }

    /// The run is over: lets go of what waits for answers.
    func end() {
        process.die()
        closeConnections(holdingBackFor: .zero)
    }

    // MARK: The lease

    private var first: SimulatedShard { shards[0] }

    private func scheduleBeat() {
        process.after(coordinator.pause(at: process.now)) { [self] in
            guard !isEnded else { return }
            beat()
            scheduleBeat()
        }
    }

    private func beat() {
        guard commands.isConnected, awaited.isEmpty else { return }
        carryOut(coordinator.beatDue(at: process.now))
    }

    private func shardConnected(_ index: Int) {
        awaited.remove(index)
        beat()
    }

    private func redisLost() {
        world.trace.note(name, "has lost Redis")
        carryOut(coordinator.redisChanged())
    }

    private func dropped() {
        world.trace.note(name, "drops sessions without a connection")
        world.truth.dropped(by: self)
    }

    private func judgesAgain() {
        if let spell { world.outageEnds(spell) }
        spell = nil
    }

    /// All is said again under a new incarnation.
    private func redisForgot() {
        guard coordinator.incarnation != nil else { return }
        if spell == nil { spell = world.outageBegins(at: .judge(place)) }
        carryOut(coordinator.redisChanged())
        beat()
    }

    private func carryOut(_ actions: [LeaseCoordinator.Action]) {
        for action in actions {
            switch action {
            case .beat(let beat): send(beat)
            case .hear(let incarnation): hear(incarnation)
            case .tell(let news): tell(news)
            case .claim(let dead, let incarnation): claim(dead, by: incarnation)
            case .sweep(let items, let dead): sweep(items, of: dead)
            case .forget(let dead):
                store.forget(dead) { [self] _ in coordinator.deletionReplied(dead) }
            }
        }
    }

    private func send(_ beat: LeaseCoordinator.Beat) {
        store.heartbeat(beat) { [self] result in
            carryOut(coordinator.heartbeatReplied(beat, result, at: process.now))
        }
    }

    private func hear(_ incarnation: Incarnation) {
        judgesAgain()
        world.trace.note(name, "is \(incarnation)")
        if let hearing { first.unsubscribe(.worker(hearing)) }
        hearing = incarnation
        first.subscribe(.worker(incarnation))
    }

    private func claim(_ dead: Incarnation, by incarnation: Incarnation) {
        world.trace.note(name, "claims what \(dead) left")
        store.claimSweep(of: dead, by: incarnation) { [self] result in
            carryOut(coordinator.claimReplied(dead, result))
        }
    }

    /// Has the first shard do what an app's server asks for.
    func backend(
        _ ask: @escaping (Shard, Instant, @escaping BackendReply) -> Void, reply: @escaping BackendReply
    ) {
        carry { self.first.after { ask($0, $1, reply) } }
    }

    private func sweep(_ items: [ListItem], of dead: Incarnation) {
        let hasServers = items.contains(where: \.session.device.isOfServer)
        guard hasServers, world.settings.planted != .adoptsNothing else {
            return sweepRest(items, of: dead)
        }
        store.standing(of: dead) { [self] result in
            guard (try? result.get())?.isDead == true else { return swept(dead, isDone: false) }
            first.after { shard, _ in
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
        world.truth.sweepBegins(
            items.compactMap { item in if case .session(let session) = item { session } else { nil } })
        world.trace.note(name, "sweeps \(items.map(\.text).joined(separator: ", ")) of \(dead)")
        store.sweep(items, of: dead, until: self.coordinator.until) { [self] result in
            swept(dead, isDone: (try? result.get()) == true)
        }
    }

    // MARK: The app's server

    private func ask(_ question: AccessQuestion, _ need: AccessQueue.Need?, for shard: Int) {
        guard let need else { return questions.withdraw(question, for: shard) }
        if case .renewal = need, world.settings.planted == .renewsNothing { return }
        if let known = questions.ask(question, need, for: shard, at: process.now) { answered(known) }
        sendQuestions()
    }

    private func sendQuestions() {
        while let batch = questions.next(at: process.now) {
            world.trace.note(
                name, "asks \(batch.questions.map { "\($0.user) \($0.conversation)" }.joined(separator: ", "))")
            world.app?.ask(batch.questions, from: self) { [self] reply in
                take(reply, to: batch)
                sendQuestions()
            }
        }
        guard let wakes = questions.wakes, asksAt.map({ wakes < $0 }) ?? true else { return }
        asksAt = wakes
        process.at(wakes) { [self] in
            asksAt = nil
            sendQuestions()
        }
    }

    private func take(_ reply: AppServer.Reply, to batch: AccessQueue.Batch) {
        let answers: [AccessQuestion: AccessAnswer]
        switch reply {
        case .answers(let all): answers = Dictionary(all.map { ($0.question, $0.answer) }) { first, _ in first }
        case .failure where world.settings.planted == .failureAdmits:
            let allowed = AccessAnswer.allow(for: .seconds(3600), people: nil)
            answers = Dictionary(batch.questions.map { ($0, allowed) }) { first, _ in first }
        case .failure(let failure):
            let chance = Double(process.chance.count(in: 0...100)) / 100
            return questions.failed(batch, failure, at: process.now, chance: chance)
        }
        for verdict in questions.answered(batch, answers, at: process.now) { answered(verdict) }
    }

    private func answered(_ verdict: AccessQueue.Verdict) {
        world.trace.note(
            name, "is answered of \(verdict.question.user) in \(verdict.question.conversation): \(verdict.answer)")
        for index in verdict.callers.sorted() { shards[index].after { $0.answered(verdict, at: $1) } }
    }

    // MARK: Between the loops

    private func tell(_ news: LeaseNews) {
        let news = planted?.changed(news, at: process.now) ?? news
        settlingSince = news.redis.judgement.settlingSince
        for shard in shards { carry { shard.after { $0.told(news, at: $1) } } }
    }

    private func noticed(_ notice: WorkerNotice) {
        for shard in shards { carry { shard.noticed(notice) } }
    }

    /// What one loop gives another to do happens a little later.
    private func carry(_ event: @escaping () -> Void) {
        process.after(process.chance.duration(in: .zero...Duration.microseconds(50)), event)
    }

    // MARK: Leaving

    private var isEnded = false

    /// `SIGTERM`.
    func drain() {
        guard !isDraining, !process.isDead else { return }
        world.trace.note(name, "drains")
        accepts = false
        isDraining = true
        let others = world.workers.filter { $0 !== self && $0.accepts }.map { Destination(ByteString($0.id)) }
        for shard in shards { shard.after { $0.drain(over: self.world.settings.drain, to: others, at: $1) } }
        awaitDrained(until: process.now + world.settings.drain + .seconds(2))
    }

    private func awaitDrained(until deadline: Instant) {
        guard process.now < deadline, !shards.allSatisfy(\.shard.isDrained) else { return endLease() }
        process.after(.milliseconds(20)) { [self] in awaitDrained(until: deadline) }
    }

    private func endLease() {
        isEnded = true
        let grace = shards.map { $0.shard.graceLeft(at: process.now) }.max() ?? .zero
        guard let last = coordinator.ending(after: grace) else { return exit() }
        store.heartbeat(last) { [self] _ in exit() }
    }

    private func exit() {
        world.trace.note(name, "exits")
        process.die()
        world.truth.exited(self)
        leave(holdingBackFor: .zero)
        onExit()
    }

    private func leave(holdingBackFor pause: Duration) {
        judgesAgain()
        for edge in edges + accepted.filter({ $0.key == nil }) { edge.processEnded() }
        closeConnections(holdingBackFor: pause)
        world.gone(self)
    }

    private func closeConnections(holdingBackFor pause: Duration) {
        commands.close(holdingBackFor: pause)
        for shard in shards { shard.stop(holdingBackFor: pause) }
    }
}

extension SimulatedShard {
    fileprivate func noticed(_ notice: WorkerNotice) {
        guard case .sentAway = notice else { return after { $0.noticed(notice, at: $1) } }
        switch world.settings.planted {
        case .sendsAllAway:
            for edge in openEdges {
                if let key = edge.key { after { $0.end(key, .sentAway, at: $1) } }
            }
        case .revocationSpares: break
        default: after { $0.noticed(notice, at: $1) }
        }
    }
}
