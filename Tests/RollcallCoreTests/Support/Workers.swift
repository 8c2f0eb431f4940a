import RedisTwin
import RollcallProtocol
import TestSupport

@testable import RollcallCore

/// Some workers on a test clock beside one Redis. What they ask, what it answers and what it publishes travel each on
/// their own way, in order there and in any order between the ways, as the seed will have it.
final class Workers {
    private final class Worker: Host {
        let incarnation: Incarnation
        let shard: Shard
        let store = TwinStore()
        var redis = RedisState(worker: "w", lease: .seconds(5), heartbeat: .seconds(1))
        var answers: [() -> Void] = []
        var heard: [ShardEvent] = []
        var topics: Set<Topic> = []
        private unowned let all: Workers

        init(_ number: Int, of all: Workers) {
            self.all = all
            incarnation = Incarnation(name: ByteString("w\(number).a"))
            shard = Shard(
                settings: .uncoalesced, worker: "w\(number)", store: store,
                random: SeededGenerator(seed: UInt64(number)))
            shard.host = self
            store.onSubscribe = { [unowned self] topic in
                topics.insert(topic)
                heard.append { $0.subscribed(topic, at: $1) }
            }
            store.onUnsubscribe = { [unowned self] in topics.remove($0) }
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

    init(_ count: Int, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        workers = (0..<count).map { Worker($0, of: self) }
        for worker in workers { beat(worker, .begin(worker.incarnation)) }
        for worker in workers { beat(worker, .renew(worker.incarnation)) }
    }

    // MARK: Devices

    func enter(_ user: UserID, _ device: DeviceID = "phone", on number: Int) -> Client {
        let worker = workers[number]
        let client = Client(Proof(user: user, device: device), worker: number) { [unowned worker] session in
            worker.heard.append { $0.caughtUp(session, at: $1) }
        }
        clients.append(client)
        client.session = worker.shard.connected(client)
        say(.hello(.init(token: user.bytes, device: device)), on: client)
        return client
    }

    func say(_ message: ClientMessage, on client: Client) {
        workers[client.worker].after { $0.received(ClientRequest(message), on: client.session, at: $1) }
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
            let due = workers.compactMap(\.shard.nextDeadline).min() ?? end
            let next = min(max(due, now), nextBeat, end)
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
            if !worker.store.asked.isEmpty, number != held { ways.append { [self] in execute(worker) } }
            if !worker.answers.isEmpty {
                ways.append {
                    worker.answers.removeFirst()()
                    worker.after { _, _ in }
                }
            }
            if !worker.heard.isEmpty { ways.append { worker.after(worker.heard.removeFirst()) } }
            return ways
        }
        guard let way = ways.randomElement(using: &random) else { return false }
        way()
        return true
    }

    private var nextBeat = at(.seconds(1))

    private func beatAll() {
        nextBeat = nextBeat + .seconds(1)
        for worker in workers { beat(worker, .renew(worker.incarnation)) }
    }

    private func beat(_ worker: Worker, _ beat: LeaseCoordinator.Beat) {
        let snapshot = redis.heartbeat(beat, lease: .seconds(5))
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        let own = worker.incarnation
        let news: LeaseNews
        if case .begin = beat {
            worker.redis.began(own, isFirst: true, snapshot, until: until, clock: clock, at: now)
            news = .began(worker.redis, snapshot, lastBeat: nil)
        } else {
            worker.redis.renewed(own, snapshot, until: until, clock: clock, afterGap: false, at: now)
            news = .renewed(worker.redis, snapshot)
        }
        worker.after { $0.told(news, at: $1) }
    }

    // MARK: Ways

    /// Redis takes the first that this worker asked, and what it published goes to all who listen.
    private func execute(_ worker: Worker) {
        let asked = worker.store.asked.removeFirst()
        if case .audit = asked.request { return }
        worker.answers.append(redis.reply(to: asked))
        for published in redis.published { publish(published) }
        redis.published = []
    }

    private func publish(_ published: Published) {
        for worker in workers {
            switch published {
            case .notice(_, let addressee):
                if worker.incarnation == addressee { worker.heard.append(published.news) }
            case .presence, .person:
                if worker.topics.contains(published.topic) { worker.heard.append(published.news) }
            case .typing, .members, .here:
                break
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
