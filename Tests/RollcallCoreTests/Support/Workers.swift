import RedisTwin
import RollcallProtocol
import TestSupport

@testable import RollcallCore

/// Some workers on a test clock beside one Redis. What they ask, what it answers and what it publishes travel each on
/// their own way, in order there and in any order between the ways, as the seed will have it.
///
/// In a world of a pair, when something arrives depends on its way and the moment alone, and what fails on the moment: what
/// one user does changes neither for another.
final class Workers {
    private final class Worker: Host {
        let number: Int
        var incarnation: Incarnation
        let shard: Shard
        let store = TwinStore()
        var redis = RedisState(worker: "w", lease: .seconds(5), heartbeat: .seconds(1))
        /// When what is under way arrives: at Redis, from there, and from its channels.
        var asked: [Instant] = []
        var answers: [(due: Instant, body: () -> Void)] = []
        var heard: [(due: Instant, event: ShardEvent)] = []
        var until = Timestamp(milliseconds: 0)
        var isCutOff = false
        var incarnations = 1
        var topics: Set<Topic> = []
        private unowned let all: Workers

        init(_ number: Int, of all: Workers) {
            (self.all, self.number) = (all, number)
            incarnation = Incarnation(name: ByteString("w\(number).a"))
            shard = Shard(
                settings: .uncoalesced, worker: "w\(number)", store: store,
                random: SeededGenerator(seed: UInt64(number)))
            shard.host = self
            store.onAsked = { [unowned self] _ in asked.append(all.arrival(.asked, self)) }
            store.onSubscribe = { [unowned self] topic in
                topics.insert(topic)
                hears { $0.subscribed(topic, at: $1) }
            }
            store.onUnsubscribe = { [unowned self] in topics.remove($0) }
        }

        func hears(_ event: @escaping ShardEvent) { heard.append((all.arrival(.heard, self), event)) }

        /// The connection that hears changes is lost, with what was on its way, and comes back.
        func subscriberGoes() {
            shard.subscriptionsLost()
            heard = []
            for topic in topics.sorted(by: { "\($0)" < "\($1)" }) { hears { $0.subscribed(topic, at: $1) } }
            hears { [incarnation] in $0.subscribed(.worker(incarnation), at: $1) }
        }

        func after(_ event: ShardEvent) {
            shard.after(event)
            repeat { shard.endTick() } while shard.hasMoreToTell
        }

        var now: Instant { all.now }
        func endTickSoon() {}
        func wake(at _: Instant) {}
        func assertAnew(_: AssertionReason) {}
        func sweep(_: [HeldItem]) {}
        func received(_: WorkerNotice) {}
    }

    /// A device's connection to one of the workers.
    final class Client: Peer {
        let worker: Int
        fileprivate(set) var session: Session!
        fileprivate(set) var closed: CloseCode?
        fileprivate var said: [ServerMessage] = []
        fileprivate let whenDrained: (Session) -> Void
        private let proof: Proof

        fileprivate init(_ proof: Proof, worker: Int, whenDrained: @escaping (Session) -> Void) {
            (self.proof, self.worker, self.whenDrained) = (proof, worker, whenDrained)
        }

        func prove(_: ByteString, device _: DeviceID?) -> Proof { proof }
        func send(_ delivery: Delivery, counting _: Bool) -> Bool {
            said.append(delivery.message)
            return true
        }
        func spare(_: Delivery) {}
        func tellWhenDrained() { whenDrained(session) }
        func hold() {}
        func listen() {}
        func limitHit(_: Limit) {}
        func close(_ end: SessionEnd) { closed = end.code }

        /// What it heard since it was last asked.
        func heard() -> [ServerMessage] {
            defer { said = [] }
            return said
        }
    }

    private(set) var redis = TwinRedis(time: Timestamp(milliseconds: 1_000_000))
    private(set) var clients: [Client] = []
    /// The worker whose way to Redis is held up.
    var held: Int?
    private var workers: [Worker] = []
    private var now = at(.zero)
    private var random: SeededGenerator
    /// Of a world of a pair: what decides when something arrives, and what fails; `nil` elsewhere.
    private let weather: Weather?

    /// - Parameters:
    ///   - isPaired: whether this is a world of a pair.
    ///   - failing: whether Redis is away from workers now and then.
    init(_ count: Int, seed: UInt64, isPaired: Bool = false, failing: Bool = true) {
        random = SeededGenerator(seed: seed)
        weather = isPaired ? Weather(seed: seed, fails: failing) : nil
        workers = (0..<count).map { Worker($0, of: self) }
        for worker in workers { beat(worker, .begin(worker.incarnation)) }
        for worker in workers { beat(worker, .renew(worker.incarnation)) }
    }

    // MARK: Devices

    func enter(_ user: UserID, _ device: DeviceID = "phone", on number: Int, watch: WatchRight? = nil) -> Client {
        let worker = workers[number]
        let proof = Proof(user: user, device: device, grant: Grant(watch: watch))
        let client = Client(proof, worker: number) { [unowned worker] session in
            worker.hears { $0.caughtUp(session, at: $1) }
        }
        clients.append(client)
        client.session = worker.shard.connected(client)
        say(.hello(.init(token: user.bytes, device: device)), on: client)
        return client
    }

    func say(_ message: ClientMessage, id: MessageID? = nil, on client: Client) {
        workers[client.worker].after { $0.received(ClientRequest(message, id: id), on: client.session, at: $1) }
    }

    func drop(_ client: Client) {
        workers[client.worker].after { $0.disconnected(client.session, silence: .zero, at: $1) }
    }

    // MARK: Time

    /// Lets time pass, with heartbeats.
    ///
    /// - Parameter arriving: whether what is under way arrives before the time goes on.
    func pass(_ duration: Duration, arriving: Bool = true) {
        let end = now + duration
        while true {
            if arriving { settle() }
            let arrivals = workers.flatMap { [$0.asked.first, $0.answers.first?.due, $0.heard.first?.due] }
            let due = (weather == nil ? [] : arrivals) + workers.map(\.shard.nextDeadline)
            let next = min(max(due.compactMap(\.self).min() ?? end, now), nextBeat, end)
            redis.time = redis.time.advanced(by: next - now)
            now = next
            for worker in workers { worker.after { $0.timePassed(at: $1) } }
            if now == nextBeat { beatAll() }
            if now == end { break }
        }
        if arriving { settle() }
    }

    /// Everything that is under way arrives, by chance before or after what is under way elsewhere.
    func settle() {
        while step() {}
    }

    /// Something that is under way arrives.
    ///
    /// - Returns: whether anything was.
    @discardableResult
    func step() -> Bool {
        let ways = workers.enumerated().flatMap { number, worker -> [() -> Void] in
            var ways: [() -> Void] = []
            if let due = worker.asked.first, due <= now, number != held { ways.append { [self] in execute(worker) } }
            if let due = worker.answers.first?.due, due <= now {
                ways.append {
                    worker.answers.removeFirst().body()
                    worker.after { _, _ in }
                }
            }
            if let due = worker.heard.first?.due, due <= now {
                ways.append { worker.after(worker.heard.removeFirst().event) }
            }
            return ways
        }
        guard let way = weather == nil ? ways.randomElement(using: &random) : ways.first else { return false }
        way()
        return true
    }

    private enum Way: UInt64 { case asked, answers, heard }

    private func arrival(_ way: Way, _ worker: Worker) -> Instant {
        weather?.arrival(UInt64(worker.number) * 3 + way.rawValue, after: now) ?? now
    }

    private var nextBeat = at(.seconds(1))

    private func beatAll() {
        nextBeat = nextBeat + .seconds(1)
        for worker in workers {
            if weather?.losesChannels(worker.number, at: now) == true { worker.subscriberGoes() }
            if weather?.isCutOff(worker.number, at: now) == true {
                beatFails(worker)
            } else if worker.redis.takesWrites || redis.time < worker.until {
                beat(worker, .renew(worker.incarnation))
            } else {
                worker.incarnations += 1
                worker.incarnation = Incarnation(name: ByteString("w\(worker.number).\(worker.incarnations)"))
                beat(worker, .begin(worker.incarnation))
            }
        }
    }

    /// Writes stop, and the lease is lost once it has passed.
    private func beatFails(_ worker: Worker) {
        worker.isCutOff = true
        if redis.time < worker.until {
            worker.redis.heartbeatsFail(isOutage: true, at: now)
            worker.after { [state = worker.redis] in $0.told(.heartbeatsFail(state), at: $1) }
        } else if worker.redis.answersReads {
            worker.redis.lost()
            worker.after { [state = worker.redis] in $0.told(.lost(state), at: $1) }
        }
    }

    private func beat(_ worker: Worker, _ beat: LeaseCoordinator.Beat) {
        let snapshot = redis.heartbeat(beat, lease: .seconds(5))
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        let (own, afterGap) = (worker.incarnation, worker.isCutOff)
        (worker.until, worker.isCutOff) = (until, false)
        let news: LeaseNews
        if case .begin = beat {
            let last = worker.redis.began(
                own, isFirst: worker.incarnations == 1, snapshot, until: until, clock: clock, at: now)
            news = .began(worker.redis, snapshot, lastBeat: last)
        } else {
            worker.redis.renewed(own, snapshot, until: until, clock: clock, afterGap: afterGap, at: now)
            news = .renewed(worker.redis, snapshot)
        }
        worker.after { $0.told(news, at: $1) }
    }

    /// An app's server decides something of a user, beside all ways.
    func decide(_ write: PersonWrite) {
        let written = redis.write(write)
        for incarnation in written.incarnations {
            redis.announce(.person(write.user, revision: written.person?.revision ?? 0), to: incarnation)
        }
        publish()
    }

    func setMembers(_ members: [UserID: String], _ conversation: ConversationID) {
        redis.setMembers(members, of: conversation)
        publish()
    }

    // MARK: Ways

    /// Redis takes the first that this worker asked, and what it published goes to all who listen.
    private func execute(_ worker: Worker) {
        let asked = worker.store.asked.removeFirst()
        worker.asked.removeFirst()
        if case .audit = asked.request { return }
        let due = arrival(.answers, worker)
        if weather?.isCutOff(worker.number, at: now) == true {
            // Whether Redis did it, nobody knows.
            if weather?.isLost(worker.number, at: now) == true { _ = redis.reply(to: asked) }
            worker.answers.append((due, { asked.fail(.unknown) }))
        } else {
            worker.answers.append((due, redis.reply(to: asked)))
        }
        publish()
    }

    private func publish() {
        for published in redis.published { publish(published) }
        redis.published = []
    }

    private func publish(_ published: Published) {
        for worker in workers {
            switch published {
            case .notice(_, let addressee):
                if worker.incarnation == addressee { worker.hears(published.news) }
            case .presence, .person, .typing, .members, .here:
                if worker.topics.contains(published.topic) { worker.hears(published.news) }
            }
        }
    }

    // MARK: What came out

    /// With what the workers closed connections.
    var closed: [CloseCode] { clients.compactMap(\.closed) }

    /// How many sessions there are at all workers, those in grace included.
    var sessions: Int { workers.map(\.shard.sessionCount).reduce(0, +) }

    /// How many sessions the workers' lists name.
    var listed: Int { redis.sessions.values.map(\.count).reduce(0, +) }

    func incarnation(of client: Client) -> Incarnation { workers[client.worker].incarnation }

    /// A user's devices that are not gone.
    func devices(of user: UserID) -> [DeviceID: DeviceRecord] {
        redis.record(of: user).devices.filter { $0.value.state != nil }
    }

    func forgetWhatWasSaid() {
        for client in clients { _ = client.heard() }
    }
}

/// Delays and failures of a pair of worlds.
private struct Weather {
    let seed: UInt64
    let fails: Bool

    private func chance(_ words: UInt64...) -> UInt64 {
        var mixed = seed
        for word in words {
            var generator = SeededGenerator(seed: mixed ^ (word &* 0x9E37_79B9_7F4A_7C15))
            mixed = generator.next()
        }
        return mixed
    }

    /// The next moment, of several in each 20 ms, at which something arrives on this way. For up to a second, none may be.
    func arrival(_ way: UInt64, after now: Instant) -> Instant {
        let now = now.millisecondsOfTest
        for part in (now / 20)... {
            if chance(way, UInt64(part / 50), 1).isMultiple(of: 16) { continue }
            let moment = part * 20 + Int64(chance(way, UInt64(part), 2) % 20)
            if moment > now { return at(.milliseconds(moment)) }
        }
        return at(.zero)
    }

    /// Whether a worker's requests fail, for two seconds each time.
    func isCutOff(_ worker: Int, at now: Instant) -> Bool {
        fails && now < at(.seconds(20))
            && chance(UInt64(worker), UInt64(now.millisecondsOfTest / 2000), 3).isMultiple(of: 5)
    }

    func isLost(_ worker: Int, at now: Instant) -> Bool {
        chance(UInt64(worker), UInt64(now.millisecondsOfTest), 4).isMultiple(of: 2)
    }

    func losesChannels(_ worker: Int, at now: Instant) -> Bool {
        chance(UInt64(worker), UInt64(now.millisecondsOfTest), 5).isMultiple(of: 12)
    }
}

extension Instant {
    fileprivate var millisecondsOfTest: Int64 { (self - at(.zero)).milliseconds }
}
