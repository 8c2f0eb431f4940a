import RollcallModel
import TestSupport
import Testing

@testable import RedisTwin
@testable import RollcallCore

/// A shard on a test clock, with a twin of Redis behind it and clients before it. What the shard asks waits until the
/// story says that Redis answers.
final class Stage {
    let shell: ShardShell
    private(set) var now = at(.zero)
    var redis = TwinRedis(time: Timestamp(milliseconds: 1_000_000))
    var incarnation: Incarnation?
    /// What was asked of Redis and is not answered yet, in order.
    var asked: [StoreRequest] = []
    /// Subscribed, but not confirmed.
    var unconfirmed: [Topic] = []
    private(set) var confirmed: Set<Topic> = []
    private(set) var said: [Session: [ServerMessage]] = [:]
    private(set) var closed: [Session: CloseCode] = [:]
    private(set) var signals: [TypingSignal] = []
    /// Clients that do not read.
    private var slow: Set<Session> = []
    private var asksWhenDrained: Set<Session> = []
    /// How many changes a story has published beside Redis.
    var published = 0
    /// How many messages were counted for a client instead of sent.
    private(set) var spared: [Session: Int] = [:]
    /// Clients of whom nothing more is read.
    private(set) var held: Set<Session> = []
    /// Limits that have held.
    private(set) var limitsHit: [Session: [SessionLimit]] = [:]
    /// Why everything was to be said under a new incarnation, each time.
    private(set) var assertionsAsked: [AssertionReason] = []
    /// Devices of dead workers that reads met.
    private(set) var swept: [DeadDevice] = []
    /// What the shard has asked of Redis so far.
    private(set) var redisCost = (lookups: 0, reads: 0, membersRead: 0, writes: 0, subscriptions: 0)
    /// Tokens that were to be looked at.
    private(set) var tokensJudged = 0
    /// Other workers' leases, as each heartbeat reads them.
    var others: [Incarnation: Timestamp] = [:]
    /// Whether Redis answers reads and refuses writes.
    private(set) var refusesWrites = false
    /// How often each kind of write was asked of Redis, refused ones included.
    private(set) var writes: [String: Int] = [:]
    /// Whether Redis lost every lease and no heartbeat has told yet.
    var leasesAreLost = false

    private var isTickToEnd = false
    private var incarnations = 0
    private let lease = Duration.seconds(5)

    /// - Parameter settings: by default the configuration's, but every change is written and told at once.
    init(_ settings: ShardSettings = .uncoalesced, redisIsThere: Bool = true) {
        shell = ShardShell(Shard(settings: settings, worker: "w1", random: SeededGenerator(seed: 1)))
        shell.host = self
        if redisIsThere { redisReturns() }
    }

    // MARK: Events

    var shard: Shard { shell.shard }

    func event(_ event: ShardEvent) {
        shell.after(event)
        repeat {
            isTickToEnd = false
            shell.endTick()
            let drained = asksWhenDrained.subtracting(slow)
            asksWhenDrained.subtract(drained)
            for key in drained.sorted(by: { $0.number < $1.number }) { shell.after { $0.caughtUp(key, at: $1) } }
        } while isTickToEnd || !asksWhenDrained.isSubset(of: slow)
    }

    /// A client stops reading, and its connection takes no more.
    func stall(_ key: Session) {
        guard closed[key] == nil else { return }
        slow.insert(key)
        shell.shard.fellBehind(key)
    }

    /// A client has read all that was sent.
    func read(_ key: Session, andStalls: Bool = false) {
        if !andStalls { slow.remove(key) }
        asksWhenDrained.remove(key)
        event { $0.caughtUp(key, at: $1) }
    }

    func connect() -> Session { shell.shard.connected(at: now) }

    /// A device says hello and is welcome; Redis has not answered yet.
    func enter(
        _ user: UserID, _ device: DeviceID = "phone", state: DeviceState = .active, issued: Timestamp? = nil,
        right: JoinRight? = nil, id: MessageID? = nil, on connection: Session? = nil
    ) -> Session {
        let key = connection ?? connect()
        say(.hello(.init(token: user.bytes, device: device, state: state)), id: id, on: key)
        event { $0.authenticated(key, user: user, device: device, issued: issued, right: right, id: id, at: $1) }
        return key
    }

    func say(_ message: ClientMessage, id: MessageID? = nil, on key: Session) {
        event { $0.received(ClientRequest(message, id: id), on: key, at: $1) }
    }

    func drop(_ key: Session) { event { $0.disconnected(key, silence: .zero, at: $1) } }

    /// Lets time pass: everything due happens in its moment, with a heartbeat each second while Redis is there, and
    /// Redis answering at once.
    func pass(_ duration: Duration, answering: Bool = true) {
        let end = now + duration
        var beat = now + .seconds(1)
        while true {
            let next = [shard.nextDeadline, beat].compactMap { $0 }.min() ?? end
            guard next <= end else { break }
            go(to: max(next, now))
            event { $0.timePassed(at: $1) }
            if next == beat {
                beat = beat + .seconds(1)
                if answering { heartbeat() }
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
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        let snapshot = leases
        tell(.began(new, isFirst: isFirst, snapshot, until: until, clock: clock))
    }

    /// Redis refuses writes from now on; two heartbeats have told.
    func redisRefusesWrites() {
        refusesWrites = true
        tell(.heartbeatsFail)
    }

    /// Redis takes writes again.
    ///
    /// - Parameter leaseStands: whether that was before the lease passed.
    func redisTakesWrites(leaseStands: Bool) {
        refusesWrites = false
        if leaseStands { return heartbeat(afterGap: true) }
        tell(.lost)
        redisReturns()
    }

    private func tell(_ news: LeaseNews) {
        shell.told(news)
        event { _, _ in [] }
    }

    func forgetWrites() { writes = [:] }

    /// Redis goes: what was asked fails, the channels are lost.
    func redisGoes() {
        incarnation = nil
        tell(.lost)
        subscriberGoes()
        failAll()
    }

    /// The connection that hears changes is lost, with what was on its way.
    func subscriberGoes() {
        shell.shard.subscriptionsLost()
        unconfirmed += confirmed
        confirmed = []
        redis.published = []
    }

    /// One channel is lost, with what was on its way there: its slot goes elsewhere.
    func channelGoes(_ topic: Topic) {
        shell.shard.subscriptionLost(topic)
        guard confirmed.remove(topic) != nil else { return }
        unconfirmed.append(topic)
        redis.published.removeAll { $0.topic == topic }
    }

    func heartbeat(afterGap: Bool = false) {
        guard let incarnation else { return }
        guard !refusesWrites else { return tell(.heartbeatsFail) }
        let snapshot = leases
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        tell(.renewed(incarnation, snapshot, until: until, clock: clock, afterGap: afterGap))
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
        case .typing, .presence, .members:
            if confirmed.contains(heard.topic) { event(heard.news) }
        }
    }

    /// Redis answers the first that was asked.
    func answer() { answer(asked.removeFirst()) }

    func answer(_ request: StoreRequest) {
        if let write = request.write { writes[write, default: 0] += 1 }
        event(refusesWrites && request.write != nil ? request.refusal : reply(to: request))
    }

    func failAll() {
        while !asked.isEmpty { fail(asked.removeFirst()) }
    }

    func fail(_ request: StoreRequest) { event(request.failure) }

    /// What Redis does now, and the event of its reply, which may come later.
    func reply(to request: StoreRequest) -> ShardEvent {
        redis.leases = leasesAreLost ? [:] : leases.leases
        redis.beats = redis.leases.mapValues { $0.advanced(by: .zero - lease) }
        return redis.reply(to: request)
    }

    private func count(_ request: StoreRequest) {
        switch request {
        case .readPresence(let read): redisCost.lookups += read.users.count
        case .getPresence(let get): redisCost.lookups += get.users.count
        case .readRoom(let reading):
            redisCost.reads += 1
            if reading.read.mostMembers > 0 { redisCost.membersRead += 1 }
        case .write: redisCost.writes += 1
        case .signalTyping(let signalling): signals.append(signalling.signal)
        case .list, .unlist, .announceReplaced, .stopTyping, .audit: break
        }
    }

    // MARK: What came out

    /// What this client heard since it was last asked.
    func heard(by key: Session) -> [ServerMessage] {
        defer { said[key] = nil }
        return said[key] ?? []
    }

    func forgetWhatWasSaid() { said = [:] }

    /// Everything that the shard keeps about somebody or something.
    var leftovers: [String: Int] {
        [
            "sessions": shard.sessions.count, "lingering": shard.lingeringSessionCount, "rooms": shard.rooms.count,
            "watches": shard.watches.count,
            "blocked": shard.unwrittenCount, "pending stops": shard.repairs.stops.count,
            "reads": shard.reads.count,
            "pending updates": shard.fanOut.pendingCount,
            "subscriptions": confirmed.count + unconfirmed.count,
        ].filter { $0.value > 0 }
    }
}

extension Stage: ShardHost {
    func endTickSoon() { isTickToEnd = true }

    /// A story lets time pass by itself.
    func wake(at _: Instant) {}

    func received(_ notice: WorkerNotice) { shell.noticed(notice) }

    func carryOut(_ action: ShardAction) {
        switch action {
        case .send(let message, let keys):
            #expect(Set(keys).count == keys.count, "a message goes to a session once")
            for key in keys { said[key, default: []].append(message) }
        case .sendSparing(let message, let keys, let spared):
            #expect(!spared.isEmpty && Set(keys + spared).count == keys.count + spared.count)
            for key in keys { said[key, default: []].append(message) }
            for key in spared { self.spared[key, default: 0] += 1 }
        case .sendSnapshot(let message, let key): said[key, default: []].append(message)
        case .tellWhenDrained(let key): asksWhenDrained.insert(key)
        case .close(let key, let end):
            #expect(closed[key] == nil, "a connection is closed once")
            closed[key] = end.code
        case .limitHit(let limit, let key): limitsHit[key, default: []].append(limit)
        case .hold(let key): held.insert(key)
        case .listen(let key): held.remove(key)
        case .authenticate: tokensJudged += 1
        case .subscribe(let topic):
            redisCost.subscriptions += 1
            #expect(!confirmed.contains(topic) && !unconfirmed.contains(topic), "subscribed twice: \(topic)")
            unconfirmed.append(topic)
        case .unsubscribe(let topic):
            unconfirmed.removeAll { $0 == topic }
            confirmed.remove(topic)
        case .store(let request):
            count(request)
            asked.append(request)
        case .assertAnew(let reason): assertionsAsked.append(reason)
        case .sweep(let devices): swept += devices
        }
    }
}

extension StoreRequest {
    /// What it writes; `nil` if Redis does it although it refuses writes.
    fileprivate var write: String? {
        switch self {
        case .list: "list"
        case .unlist: "unlist"
        case .write: "write"
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

    var acks: [MessageID] { compactMap { if case .ack(let id) = $0 { id } else { nil } } }

    var errors: [MessageError.Code] { compactMap { if case .error(let error) = $0 { error.code } else { nil } } }

    /// Ids answered, by acknowledgement or error.
    var answered: [MessageID] {
        compactMap { message in
            switch message {
            case .ack(let id): id
            case .error(let error): error.id
            case .presence(_, let id): id
            case .welcome, .typing, .members, .removed, .pong, .goodbye: nil
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
