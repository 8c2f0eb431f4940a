import RollcallProtocol
import TestSupport
import Testing

@testable import RedisTwin
@testable import RollcallCore

/// A shard on a test clock, with a twin of Redis behind it and clients before it. What the shard asks waits until the
/// story says that Redis answers.
final class Stage {
    let shard: Shard
    private let store = TwinStore()
    private(set) var now = at(.zero)
    var redis = TwinRedis(time: Timestamp(milliseconds: 1_000_000))
    var incarnation: Incarnation?
    /// What was asked of Redis and is not answered yet, in order.
    var asked: [TwinStore.Asked] {
        get { store.asked }
        set { store.asked = newValue }
    }
    /// What the next token proves; by default, that its text is the user.
    var proof: Result<Proof, ProofRefusal>?
    /// Subscribed, but not confirmed.
    var unconfirmed: [Topic] = []
    private(set) var confirmed: Set<Topic> = []
    fileprivate(set) var said: [Session: [ServerMessage]] = [:]
    fileprivate(set) var closed: [Session: CloseCode] = [:]
    private(set) var signals: [TypingSignal] = []
    /// Clients that do not read.
    private var slow: Set<Session> = []
    fileprivate var asksWhenDrained: Set<Session> = []
    /// How many changes a story has published beside Redis.
    var published = 0
    /// How many messages were counted for a client instead of sent.
    fileprivate(set) var spared: [Session: Int] = [:]
    /// Clients of whom nothing more is read.
    fileprivate(set) var held: Set<Session> = []
    /// Limits that have held.
    fileprivate(set) var limitsHit: [Session: [Limit]] = [:]
    /// Why everything was to be said under a new incarnation, each time.
    private(set) var assertionsAsked: [AssertionReason] = []
    /// Devices of dead workers that reads met.
    private(set) var swept: [HeldItem] = []
    /// What the shard has asked of Redis so far.
    private(set) var redisCost = (lookups: 0, reads: 0, membersRead: 0, writes: 0, subscriptions: 0)
    /// Tokens that were to be looked at.
    fileprivate(set) var tokensJudged = 0
    /// Other workers' leases, as each heartbeat reads them.
    var others: [Incarnation: Timestamp] = [:]
    /// Whether Redis answers reads and refuses writes.
    private(set) var refusesWrites = false
    /// How often each kind of write was asked of Redis, refused ones included.
    private(set) var writes: [String: Int] = [:]
    /// What is asked of the app's server, and what was taken from there.
    var questions = AccessQueue()
    private var denials: [AccessQueue.Verdict] = []
    private(set) var withdrawn: [AccessQuestion] = []
    /// Whether Redis lost every lease and no heartbeat has told yet.
    var leasesAreLost = false

    private var isTickToEnd = false
    private var incarnations = 0
    private let lease: Duration
    /// What the loop of the lease knows.
    private var state: RedisState

    /// - Parameter settings: by default the configuration's, but every change is written and told at once.
    init(_ settings: ShardSettings = .uncoalesced, lease: Duration = .seconds(5), redisIsThere: Bool = true) {
        self.lease = lease
        state = RedisState(worker: "w1", lease: lease, heartbeat: lease / 5)
        shard = Shard(settings: settings, worker: "w1", store: store, random: SeededGenerator(seed: 1))
        shard.host = self
        store.onAsked = { [unowned self] in count($0) }
        store.onSubscribe = { [unowned self] topic in
            redisCost.subscriptions += 1
            #expect(!unconfirmed.contains(topic), "subscribed twice: \(topic)")
            unconfirmed.append(topic)
        }
        store.onUnsubscribe = { [unowned self] topic in
            unconfirmed.removeAll { $0 == topic }
            confirmed.remove(topic)
        }
        if redisIsThere { redisReturns() }
    }

    // MARK: Events

    func event(_ event: ShardEvent) {
        shard.after(event)
        endTicks()
    }

    /// A reply of Redis arrives.
    func arrives(_ reply: () -> Void) {
        reply()
        endTicks()
    }

    private func endTicks() {
        repeat {
            isTickToEnd = false
            shard.endTick()
            let drained = asksWhenDrained.subtracting(slow)
            asksWhenDrained.subtract(drained)
            for key in drained.sorted(by: { $0.number < $1.number }) { shard.after { $0.caughtUp(key, at: $1) } }
        } while isTickToEnd || !asksWhenDrained.isSubset(of: slow)
    }

    /// A client stops reading, and its connection takes no more.
    func stall(_ key: Session) {
        guard closed[key] == nil else { return }
        slow.insert(key)
        shard.fellBehind(key)
    }

    /// A client has read all that was sent.
    func read(_ key: Session, andStalls: Bool = false) {
        if !andStalls { slow.remove(key) }
        asksWhenDrained.remove(key)
        event { $0.caughtUp(key, at: $1) }
    }

    func connect() -> Session {
        let client = Client(of: self)
        let session = shard.connected(client)
        client.session = session
        return session
    }

    /// A device says hello and is welcome; Redis has not answered yet.
    func enter(
        _ user: UserID, _ device: DeviceID = "phone", state: DeviceState = .active, issued: Timestamp? = nil,
        right: JoinRight? = nil, watch: WatchRight? = nil, id: MessageID? = nil,
        on connection: Session? = nil
    ) -> Session {
        let key = connection ?? connect()
        proof = .success(Proof(user: user, device: device, issued: issued, grant: Grant(join: right, watch: watch)))
        say(.hello(.init(token: user.bytes, device: device, state: state)), id: id, on: key)
        return key
    }

    /// The device shows a token.
    func show(_ proof: Proof, id: MessageID? = nil, on key: Session) {
        self.proof = .success(proof)
        say(.token(proof.user.bytes), id: id, on: key)
    }

    func say(_ message: ClientMessage, id: MessageID? = nil, on key: Session) {
        event { $0.received(ClientRequest(message, id: id), on: key, at: $1) }
    }

    func drop(_ key: Session) { event { $0.disconnected(key, silence: .zero, at: $1) } }

    /// Lets time pass: everything due happens in its moment, with a heartbeat each second while Redis is there, and
    /// Redis answering at once.
    func pass(_ duration: Duration, answering: Bool = true) {
        let end = now + duration
        var beat = now + state.pause(at: now)
        while true {
            let next = [shard.nextDeadline, beat].compactMap { $0 }.min() ?? end
            guard next <= end else { break }
            go(to: max(next, now))
            event { $0.timePassed(at: $1) }
            if next == beat {
                if answering { heartbeat() }
                beat = now + state.pause(at: now)
            }
            if answering { settle() }
        }
        go(to: end)
    }

    private func go(to instant: Instant) {
        redis.time = redis.time.advanced(by: instant - now)
        now = instant
    }

    // MARK: Redis

    func redisReturns() {
        incarnations += 1
        leasesAreLost = false
        let new = Incarnation(name: ByteString("w1.\(incarnations)"))
        let isFirst = incarnations == 1
        incarnation = new
        let snapshot = leases
        let lastBeat = state.began(new, isFirst: isFirst, snapshot, until: until, clock: clock, at: now)
        tell(.began(state, snapshot, lastBeat: lastBeat))
    }

    private var until: Timestamp { redis.time.advanced(by: lease - LeaseCoordinator.clockTolerance) }
    private var clock: RedisClock { RedisClock(time: redis.time, sent: now) }

    /// Redis refuses writes from now on; two heartbeats have told.
    func redisRefusesWrites() {
        refusesWrites = true
        heartbeatsFail()
    }

    func heartbeatsFail() {
        state.heartbeatsFail(isOutage: true, at: now)
        tell(.heartbeatsFail(state))
    }

    /// Redis takes writes again.
    ///
    /// - Parameter leaseStands: whether that was before the lease passed.
    func redisTakesWrites(leaseStands: Bool) {
        refusesWrites = false
        if leaseStands { return heartbeat(afterGap: true) }
        loseLease()
        redisReturns()
    }

    private func tell(_ news: LeaseNews) {
        event { $0.told(news, at: $1) }
    }

    private func loseLease() {
        state.lost()
        tell(.lost(state))
    }

    func forgetWrites() { writes = [:] }

    /// Redis goes: what was asked fails, the channels are lost.
    func redisGoes() {
        incarnation = nil
        loseLease()
        subscriberGoes()
        failAll()
    }

    /// The connection that hears changes is lost, with what was on its way.
    func subscriberGoes() {
        shard.subscriptionsLost()
        unconfirmed += confirmed.subtracting(unconfirmed)
        confirmed = []
        redis.published = []
    }

    /// One channel is lost, with what was on its way there: its slot goes elsewhere.
    func channelGoes(_ topic: Topic) {
        shard.subscriptionLost(topic)
        guard confirmed.remove(topic) != nil else { return }
        unconfirmed.append(topic)
        redis.published.removeAll { $0.topic == topic }
    }

    func heartbeat(afterGap: Bool = false) {
        guard let incarnation else { return }
        guard !refusesWrites else { return heartbeatsFail() }
        let snapshot = leases
        state.renewed(incarnation, snapshot, until: until, clock: clock, afterGap: afterGap, at: now)
        tell(.renewed(state, snapshot))
    }

    /// Every lease as Redis has it.
    private var leases: LeaseSnapshot {
        var leases = others
        if let incarnation { leases[incarnation] = redis.time.advanced(by: lease) }
        return LeaseSnapshot(held: true, time: redis.time, leases: leases)
    }

    /// Redis confirms, answers and publishes until all is quiet.
    func settle() {
        guard incarnation != nil else { return failAll() }
        while true {
            if !redis.published.isEmpty {
                hear()
            } else if !unconfirmed.isEmpty {
                confirm()
            } else if !asked.isEmpty {
                answer()
            } else {
                return
            }
        }
    }

    func confirm() {
        let topic = unconfirmed.removeFirst()
        confirmed.insert(topic)
        event { $0.subscribed(topic, at: $1) }
    }

    /// The next published change comes; to no effect where nobody here listens.
    func hear() {
        let heard = redis.published.removeFirst()
        switch heard {
        case .notice(_, let addressee):
            if addressee == incarnation { event(heard.news) }
        case .typing, .presence, .person, .members, .here:
            if confirmed.contains(heard.topic) { event(heard.news) }
        }
    }

    /// Redis answers the first that was asked.
    func answer() { answer(asked.removeFirst()) }

    func answer(_ asked: TwinStore.Asked) {
        if let write = asked.request.write { writes[write, default: 0] += 1 }
        if refusesWrites, asked.request.write != nil { return refuse(asked) }
        arrives(reply(to: asked))
    }

    func failAll() {
        while !asked.isEmpty { fail(asked.removeFirst()) }
    }

    /// Nobody knows what became of it.
    func fail(_ asked: TwinStore.Asked) { arrives { asked.fail(.unknown) } }

    /// Redis refuses it as a whole.
    func refuse(_ asked: TwinStore.Asked) { arrives { asked.fail(.withoutEffect) } }

    /// What Redis does now. The reply may arrive later.
    func reply(to asked: TwinStore.Asked) -> () -> Void {
        redis.leases = leasesAreLost ? [:] : leases.leases
        redis.beats = redis.leases.mapValues { $0.advanced(by: .zero - lease) }
        return redis.reply(to: asked)
    }

    private func count(_ request: TwinStore.Asked.Request) {
        switch request {
        case .presence(let users, _): redisCost.lookups += users.count
        case .room(let read):
            redisCost.reads += 1
            if read.mostMembers > 0 { redisCost.membersRead += 1 }
        case .write, .writeHere: redisCost.writes += 1
        case .signalTyping(let signal): signals.append(signal)
        case .access, .person: redisCost.writes += 1
        case .persons(let users): redisCost.lookups += users.count
        case .list, .unlist, .listEntry, .announce, .isListed, .stopTyping, .audit, .lines, .personRevisions: break
        }
    }

    // MARK: What came out

    /// What this client heard since it was last asked.
    func heard(by key: Session) -> [ServerMessage] {
        defer { said[key] = nil }
        return said[key] ?? []
    }

    func forgetWhatWasSaid() { said = [:] }

    /// What the stage itself keeps of sessions.
    func forgetClients() {
        (said, closed, spared, limitsHit) = ([:], [:], [:], [:])
        (slow, asksWhenDrained, held) = ([], [], [])
    }

    /// Everything that the shard keeps about somebody or something.
    var leftovers: [String: Int] {
        [
            "sessions": shard.table.count, "lingering": shard.lingeringSessionCount, "rooms": shard.roomCount,
            "watches": shard.watches.count,
            "blocked": shard.unwrittenCount, "pending stops": shard.typing.stopCount,
            "reads": shard.watches.dueReadCount + shard.conversations.dueReadCount,
            "pending updates": shard.backlogCount, "typists": shard.typistCount,
            "subscriptions": confirmed.count + unconfirmed.count,
        ].filter { $0.value > 0 }
    }
}

extension Stage: Host {
    func endTickSoon() { isTickToEnd = true }

    /// A story lets time pass by itself.
    func wake(at _: Instant) {}

    func received(_: WorkerNotice) {}
    func assertAnew(_ reason: AssertionReason) { assertionsAsked.append(reason) }
    func sweep(_ items: [HeldItem]) { swept += items }

    func ask(_ question: AccessQuestion, _ need: AccessQueue.Need) {
        // What is known comes as an event of its own.
        if let known = questions.ask(question, need, for: 0, at: now) { denials.append(known) }
    }

    func withdraw(_ question: AccessQuestion) {
        withdrawn.append(question)
        questions.withdraw(question, for: 0)
    }

    /// What is sent to the app's server now.
    func sendQuestions() -> [AccessQueue.Batch] {
        var batches: [AccessQueue.Batch] = []
        while let batch = questions.next(at: now) { batches.append(batch) }
        return batches
    }

    /// The app's server answers, and Redis too.
    func answer(_ batch: AccessQueue.Batch, _ answer: (AccessQuestion) -> AccessAnswer?) {
        var answers: [AccessQuestion: AccessAnswer] = [:]
        for question in batch.questions { answers[question] = answer(question) }
        for verdict in questions.answered(batch, answers, at: now) { event { $0.answered(verdict, at: $1) } }
        settle()
    }

    /// The app's server answers whatever it is asked.
    @discardableResult
    func askApp(_ answer: (AccessQuestion) -> AccessAnswer?) -> [AccessQuestion] {
        settle()
        for denial in denials { event { $0.answered(denial, at: $1) } }
        denials = []
        settle()
        let batches = sendQuestions()
        for batch in batches { self.answer(batch, answer) }
        return batches.flatMap(\.questions)
    }
}

/// A client of a stage.
private final class Client: Peer {
    private unowned let stage: Stage
    unowned var session: Session!
    private var last = 0

    init(of stage: Stage) { self.stage = stage }

    func prove(_ token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        stage.tokensJudged += 1
        defer { stage.proof = nil }
        if let proof = stage.proof { return try proof.get() }
        guard let user = try? UserID(token.string), let device else {
            throw ProofRefusal(.badToken(because: ""), endsWelcomed: false)
        }
        return Proof(user: user, device: device)
    }

    func send(_ delivery: Delivery, counting _: Bool) -> Bool {
        takeOnce(delivery)
        stage.said[session, default: []].append(delivery.message)
        return true
    }

    func spare(_ delivery: Delivery) {
        takeOnce(delivery)
        stage.spared[session, default: 0] += 1
    }

    private func takeOnce(_ delivery: Delivery) {
        #expect(delivery.number > last, "a message goes to a session once")
        last = delivery.number
    }

    func tellWhenDrained() { stage.asksWhenDrained.insert(session) }
    func hold() { stage.held.insert(session) }
    func listen() { stage.held.remove(session) }
    func limitHit(_ limit: Limit) { stage.limitsHit[session, default: []].append(limit) }

    func close(_ end: SessionEnd) {
        #expect(stage.closed[session] == nil, "a connection is closed once")
        stage.closed[session] = end.code
    }
}

extension TwinStore.Asked.Request {
    /// What it writes; `nil` if Redis does it although it refuses writes.
    fileprivate var write: String? {
        switch self {
        case .list: "list"
        case .unlist: "unlist"
        case .write: "write"
        case .writeHere: "here"
        case .signalTyping: "typing"
        case .stopTyping: "stop"
        default: nil
        }
    }
}

extension [ServerMessage] {
    /// The users named in each `typing` message, one list a message.
    var typists: [[String]] {
        compactMap { if case .typing(let typing) = $0 { typing.users.map(\.user.text) } else { nil } }
    }

    /// The same, of one conversation.
    func typists(in conversation: ConversationID) -> [[String]] {
        filter { if case .typing(let typing) = $0 { typing.conversation == conversation } else { false } }.typists
    }

    /// Each status of each `presence` message, in order.
    var statuses: [String] {
        flatMap { message -> [String] in
            guard case .presence(let users, _) = message else { return [] }
            return users.map { "\($0.user) \($0.status.rawValue)" }
        }
    }

    var presences: [Presence] { flatMap { if case .presence(let users, _) = $0 { users } else { [Presence]() } } }

    var welcome: ServerMessage.Welcome? {
        lazy.compactMap { if case .welcome(let welcome) = $0 { welcome } else { nil } }.first
    }

    var acks: [MessageID] { compactMap { if case .ack(let id) = $0 { id } else { nil } } }

    var errors: [MessageError.Code] { compactMap { if case .error(let error) = $0 { error.code } else { nil } } }

    /// Ids answered, by acknowledgement or error.
    var answered: [MessageID] {
        compactMap { message in
            switch message {
            case .ack(let id): id
            case .error(let error): error.id
            case .presence(_, let id): id
            case .welcome, .typing, .members, .here, .removed, .person, .pong, .goodbye: nil
            }
        }
    }
}

extension ShardSettings {
    /// Each change of presence is written and told at once, for stories about something else.
    static var uncoalesced: ShardSettings {
        var settings = ShardSettings()
        settings.presenceCoalesce = .zero
        return settings
    }
}
