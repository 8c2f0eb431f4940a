import RedisTwin
import RollcallModel
import TestSupport

@testable import RollcallCore

/// Some workers on a test clock beside one Redis. What they ask, what it answers and what it publishes travel each on
/// their own way, in order there and in any order between the ways, as the seed will have it.
struct Workers {
    private struct Worker {
        let incarnation: Incarnation
        var shard: Shard
        var asked: [StoreRequest] = []
        var answers: [ShardEvent] = []
        var heard: [ShardEvent] = []
        var topics: Set<Topic> = []
    }

    /// A session of one of the workers.
    struct Key: Hashable {
        let worker: Int
        let session: Session
    }

    private(set) var redis = TwinRedis(time: Timestamp(milliseconds: 1_000_000))
    private(set) var closed: [Key: CloseCode] = [:]
    private(set) var said: [Key: [ServerMessage]] = [:]
    /// The worker whose way to Redis is held up.
    var held: Int?
    private var workers: [Worker] = []
    private var now = at(.zero)
    private var random: SeededGenerator

    init(_ count: Int, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for number in 0..<count {
            let shard = Shard(
                settings: .uncoalesced, worker: "w\(number)", random: SeededGenerator(seed: UInt64(number)))
            workers.append(Worker(incarnation: Incarnation(name: ByteString("w\(number).a")), shard: shard))
        }
        for worker in workers.indices { beat(worker, .begin(workers[worker].incarnation)) }
        for worker in workers.indices { beat(worker, .renew(workers[worker].incarnation)) }
    }

    // MARK: Devices

    mutating func enter(_ user: UserID, _ device: DeviceID = "phone", on worker: Int) -> Key {
        let session = workers[worker].shard.connected(at: now)
        let hello = ClientMessage.hello(.init(token: user.bytes, device: device))
        event(worker) { $0.received(ClientRequest(hello), on: session, at: $1) }
        event(worker) { $0.authenticated(session, user: user, device: device, id: nil, at: $1) }
        return Key(worker: worker, session: session)
    }

    mutating func say(_ message: ClientMessage, on key: Key) {
        event(key.worker) { $0.received(ClientRequest(message), on: key.session, at: $1) }
    }

    mutating func drop(_ key: Key) {
        event(key.worker) { $0.disconnected(key.session, silence: .zero, at: $1) }
    }

    // MARK: Time

    /// Lets time pass, with heartbeats.
    ///
    /// - Parameter arriving: whether what is under way arrives before the time goes on.
    mutating func pass(_ duration: Duration, arriving: Bool = true) {
        let end = now + duration
        while true {
            if arriving { settle() }
            let due = workers.compactMap(\.shard.nextDeadline).min() ?? end
            let next = min(max(due, now), nextBeat, end)
            redis.time = redis.time.advanced(by: next - now)
            now = next
            for worker in workers.indices { event(worker) { $0.timePassed(at: $1) } }
            if now == nextBeat { beatAll() }
            if now == end { break }
        }
        if arriving { settle() }
    }

    /// Everything that is under way arrives, by chance before or after what is under way elsewhere.
    mutating func settle() {
        while step() {}
    }

    /// Something that is under way arrives.
    ///
    /// - Returns: whether anything was.
    @discardableResult
    mutating func step() -> Bool {
        let ways = workers.indices.flatMap { worker -> [(inout Workers) -> Void] in
            var ways: [(inout Workers) -> Void] = []
            if !workers[worker].asked.isEmpty, worker != held { ways.append { $0.execute(worker) } }
            if !workers[worker].answers.isEmpty {
                ways.append { $0.event(worker, $0.workers[worker].answers.removeFirst()) }
            }
            if !workers[worker].heard.isEmpty {
                ways.append { $0.event(worker, $0.workers[worker].heard.removeFirst()) }
            }
            return ways
        }
        guard let way = ways.randomElement(using: &random) else { return false }
        way(&self)
        return true
    }

    private var nextBeat = at(.seconds(1))

    private mutating func beatAll() {
        nextBeat = nextBeat + .seconds(1)
        for worker in workers.indices { beat(worker, .renew(workers[worker].incarnation)) }
    }

    private mutating func beat(_ worker: Int, _ beat: LeaseKeeper.Beat) {
        let snapshot = redis.heartbeat(beat, lease: .seconds(5))
        let (until, clock) = (redis.time.advanced(by: .milliseconds(4500)), RedisClock(time: redis.time, sent: now))
        switch beat {
        case .begin(let new):
            event(worker) { $0.incarnationBegan(new, isFirst: true, snapshot, until: until, clock: clock, at: $1) }
        case .renew(let own), .end(let own, _):
            event(worker) {
                $0.leaseRenewed(of: own, snapshot, until: until, clock: clock, afterGap: false, at: $1)
            }
        }
    }

    // MARK: Ways

    private mutating func event(_ worker: Int, _ event: ShardEvent) {
        carryOut(event(workers[worker].shard, now), of: worker)
        repeat {
            carryOut(workers[worker].shard.tickEnded(at: now), of: worker)
        } while workers[worker].shard.hasMoreToTell
    }

    private mutating func carryOut(_ actions: [ShardAction], of worker: Int) {
        for action in actions {
            switch action {
            case .send(let message, let sessions), .sendSparing(let message, let sessions, _):
                for session in sessions { said[Key(worker: worker, session: session), default: []].append(message) }
            case .sendSnapshot(let message, let session):
                said[Key(worker: worker, session: session), default: []].append(message)
            case .tellWhenDrained(let session): workers[worker].heard.append { $0.caughtUp(session, at: $1) }
            case .close(let session, let end): closed[Key(worker: worker, session: session)] = end.code
            case .authenticate, .hold, .listen, .limitHit, .sweep, .assertAnew: break
            case .subscribe(let topic):
                workers[worker].topics.insert(topic)
                workers[worker].heard.append { $0.subscribed(topic, at: $1) }
            case .unsubscribe(let topic): workers[worker].topics.remove(topic)
            case .store(.audit): break
            case .store(let request): workers[worker].asked.append(request)
            }
        }
    }

    /// Redis takes the first that this worker asked, and what it published goes to all who listen.
    private mutating func execute(_ worker: Int) {
        workers[worker].answers.append(redis.reply(to: workers[worker].asked.removeFirst()))
        for published in redis.published { publish(published) }
        redis.published = []
    }

    private mutating func publish(_ published: Published) {
        for worker in workers.indices {
            switch published {
            case .notice(_, let addressee):
                if workers[worker].incarnation == addressee { workers[worker].heard.append(published.news) }
            case .presence:
                if workers[worker].topics.contains(published.topic) { workers[worker].heard.append(published.news) }
            case .typing, .members:
                break
            }
        }
    }

    // MARK: What came out

    /// How many sessions there are at all workers, those in grace included.
    var sessions: Int { workers.map(\.shard.sessionCount).reduce(0, +) }

    /// How many sessions the workers' lists name.
    var listed: Int { redis.sessions.values.map(\.count).reduce(0, +) }

    func incarnation(of key: Key) -> Incarnation { workers[key.worker].incarnation }

    /// A user's devices that are not gone.
    func devices(of user: UserID) -> [DeviceID: DeviceRecord] {
        redis.record(of: user).devices.filter { $0.value.state != nil }
    }

    mutating func forgetWhatWasSaid() { said = [:] }

    /// What this client heard since it was last asked.
    mutating func heard(by key: Key) -> [ServerMessage] {
        said.removeValue(forKey: key) ?? []
    }
}
