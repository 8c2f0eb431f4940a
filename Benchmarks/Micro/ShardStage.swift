// A single shard whose requests an in-memory Redis answers at once, on a clock that is moved by hand.

import RedisTwin
import RollcallClient
import RollcallCore
import RollcallProtocol

/// What a signal asks of Redis, with where its reply goes.
typealias SignalTaker = (TypingSignal, _ isOpen: Bool, @escaping StoreReply<TypingOutcome>) -> Void

final class ShardStage {
    private let shard: Shard
    private let store = StageStore()
    private(set) var now = Instant(nanoseconds: 0)
    private var redis = TwinRedis(time: Timestamp(milliseconds: 1_784_600_000_000))
    /// What clients were sent since the last measured event began.
    private(set) var sent: [ServerMessage] = []
    fileprivate var lastSent = 0

    init() {
        var settings = ShardSettings()
        // Thousands of calls come from one client.
        settings.limits.messageRate = .max
        settings.limits.messageBurst = .max
        settings.presenceCoalesce = .zero
        shard = Shard(settings: settings, worker: "w1", store: store, random: SystemRandomNumberGenerator())
        shard.host = self
        let incarnation = Incarnation(name: "w1.1")
        let (time, lease) = (redis.time, Duration.seconds(3600))
        let leases = redis.heartbeat(.begin(incarnation), lease: lease)
        var state = RedisState(worker: "w1", lease: lease, heartbeat: .seconds(1))
        state.began(
            incarnation, isFirst: true, leases, until: time.advanced(by: lease),
            clock: RedisClock(time: time, sent: now), at: now)
        shard.after { [state] in $0.told(.began(state, leases, lastBeat: nil), at: $1) }
        settle()
    }

    // MARK: Preparation

    /// Connects a device, and waits until its presence is written.
    func enter(_ user: UserID) -> RollcallCore.Session {
        let session = shard.connected(StageClient(user, of: self))
        say(.hello(.init(token: user.bytes, device: "phone", state: .active)), on: session)
        return session
    }

    func say(_ message: ClientMessage, on session: RollcallCore.Session) {
        shard.after { $0.received(ClientRequest(message, id: nil), on: session, at: $1) }
        settle()
    }

    /// Has Redis do and publish everything that follows.
    func settle() {
        repeat {
            while let topic = store.subscribed.popLast() { shard.after { $0.subscribed(topic, at: $1) } }
            while !store.twin.asked.isEmpty { redis.reply(to: store.twin.asked.removeFirst())() }
            shard.endTick()
        } while !store.subscribed.isEmpty || !store.twin.asked.isEmpty || shard.hasMoreToTell
    }

    // MARK: Measured operations

    func pass(_ duration: Duration) { now = now + duration }

    func passToNextDeadline() { now = shard.nextDeadline ?? now }

    /// A client's message comes.
    ///
    /// - Parameter signal: takes what goes on to Redis.
    func received(_ request: ClientRequest, on session: RollcallCore.Session, signal: @escaping SignalTaker) {
        store.takeSignal = signal
        shard.after { $0.received(request, on: session, at: $1) }
        store.takeSignal = nil
    }

    func heard(of user: UserID, typing: Bool, in conversation: ConversationID) {
        heard(
            TypingChange(user: user, typing: typing, expiresIn: typing ? 3000 : nil, at: shard.redis.time(at: now)),
            in: conversation)
    }

    func heard(_ change: TypingChange, in conversation: ConversationID) {
        shard.typingChanged(change, in: conversation, at: now)
    }

    func heard(of user: UserID, status: PresenceStatus) {
        let time = shard.redis.time(at: now)
        shard.presenceChanged(
            PresenceChange(
                Presence(
                    user: user, status: status, lastSeen: time, updatedAt: time, version: time.milliseconds)), at: now)
    }

    func timePassed() { shard.after { $0.timePassed(at: $1) } }

    /// Ends a tick.
    ///
    /// - Returns: the one message in which it must result here, independent of the number of recipients.
    func tickEnded() -> ServerMessage {
        sent.removeAll(keepingCapacity: true)
        shard.endTick()
        guard sent.count == 1 else { preconditionFailure("\(sent.count) messages, where there should be one") }
        return sent[0]
    }

    fileprivate func sent(_ delivery: Delivery) {
        guard delivery.number > lastSent else { return }
        lastSent = delivery.number
        sent.append(delivery.message)
    }
}

extension ShardStage: Host {
    func endTickSoon() {}
    func wake(at _: Instant) {}
    func assertAnew(_: AssertionReason) { preconditionFailure("the shard is not content") }
    func sweep(_: [HeldItem]) {}
    func received(_: WorkerNotice) {}
}

private final class StageClient: Peer {
    private let user: UserID
    private unowned let stage: ShardStage

    init(_ user: UserID, of stage: ShardStage) { (self.user, self.stage) = (user, stage) }

    func prove(_: ByteString, device _: DeviceID?) -> Proof { Proof(user: user, device: "phone") }
    func send(_ delivery: Delivery, counting _: Bool) -> Bool {
        stage.sent(delivery)
        return true
    }
    func spare(_: Delivery) {}
    func tellWhenDrained() {}
    func hold() {}
    func listen() {}
    func limitHit(_ limit: Limit) { preconditionFailure("the shard is not content: \(limit)") }
    func close(_ end: SessionEnd) { preconditionFailure("the shard is not content: \(end)") }
}

/// The twin, but for signals that are measured.
private final class StageStore: PresenceStore {
    let twin = TwinStore()
    var subscribed: [Topic] = []
    var takeSignal: SignalTaker?

    func signalTyping(_ signal: TypingSignal, isOpen: Bool, reply: @escaping StoreReply<TypingOutcome>) {
        guard let takeSignal else { return twin.signalTyping(signal, isOpen: isOpen, reply: reply) }
        takeSignal(signal, isOpen, reply)
    }

    func subscribe(_ topic: Topic) { subscribed.append(topic) }
    func unsubscribe(_: Topic) {}

    func list(
        _ names: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) { twin.list(names, of: incarnation, until: until, reply: reply) }
    func list(
        _ entry: EntryName, of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) { twin.list(entry, of: incarnation, until: until, reply: reply) }
    func isListed(_: EntryName, of _: Incarnation, reply _: @escaping StoreReply<Bool>) {}
    func unlist(_ item: ListItem, of incarnation: Incarnation, reply: @escaping StoreReply<Void>) {
        twin.unlist(item, of: incarnation, reply: reply)
    }
    func lines(of entries: [EntryName], reply: @escaping StoreReply<[HereLine?]>) {
        twin.lines(of: entries, reply: reply)
    }
    func write(_ write: HereWrite, reply: @escaping StoreReply<HereWritten>) { twin.write(write, reply: reply) }
    func write(_ write: DeviceWrite, reply: @escaping StoreReply<DeviceWritten>) { twin.write(write, reply: reply) }
    func write(_ write: AccessWrite, reply: @escaping StoreReply<AccessWritten>) { twin.write(write, reply: reply) }
    func write(_ write: PersonWrite, reply: @escaping StoreReply<PersonWritten>) { twin.write(write, reply: reply) }
    func persons(of users: [UserID], reply: @escaping StoreReply<[Person?]>) { twin.persons(of: users, reply: reply) }
    func personRevisions(of users: [UserID], reply: @escaping StoreReply<[Int64]>) {
        twin.personRevisions(of: users, reply: reply)
    }
    func announce(_: WorkerNotice, to _: Incarnation) {}
    func stopTyping(_ stop: TypingSignal, reply: @escaping StoreReply<TypingStopOutcome>) {
        twin.stopTyping(stop, reply: reply)
    }
    func room(_ read: RoomRead, reply: @escaping StoreReply<RoomSnapshot>) { twin.room(read, reply: reply) }
    func presence(of users: [UserID], known: KnownWorkers, reply: @escaping StoreReply<PresenceSnapshot>) {
        twin.presence(of: users, known: known, reply: reply)
    }
    func audit(
        _ names: [SessionName], of incarnation: Incarnation, reply: @escaping StoreReply<[DeviceStanding]>
    ) { twin.audit(names, of: incarnation, reply: reply) }
}
