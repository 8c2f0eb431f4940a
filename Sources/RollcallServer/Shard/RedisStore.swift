// A shard's requests to the Redis of its event loop.

internal import Logging
internal import NIOCore
internal import RollcallCore
internal import RollcallProtocol
internal import RollcallRedis

/// Redis for one shard, over its event loop's connections. Use on that loop only.
final class RedisStore: PresenceStore {
    let store: Store
    /// From publishing a typing signal until Redis confirms it.
    private(set) var publishing = Histogram()
    /// The shard that asks; set before the first request. `nil` from the end on, when the shard's host may be gone: replies
    /// that still come are dropped.
    unowned var shard: Shard?

    private let subscriber: RedisSubscriber
    private let eventLoop: any EventLoop
    private let problems: ProblemLog

    init(_ store: Store, subscriber: RedisSubscriber, on eventLoop: any EventLoop, problems: ProblemLog) {
        (self.store, self.subscriber, self.eventLoop, self.problems) = (store, subscriber, eventLoop, problems)
    }

    func list(
        _ names: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) {
        store.record(names, of: incarnation, until: until) { [self] in answered($0, reply) }
    }

    func list(
        _ entry: EntryName, of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) {
        store.record(entry, of: incarnation, until: until) { [self] in answered($0, reply) }
    }

    func isListed(_ entry: EntryName, of incarnation: Incarnation, reply: @escaping StoreReply<Bool>) {
        store.isRecorded(entry, of: incarnation) { [self] in answered($0, reply) }
    }

    func unlist(_ item: ListItem, of incarnation: Incarnation, reply: @escaping StoreReply<Void>) {
        store.unrecord([item], of: incarnation) { [self] in answered($0, reply) }
    }

    func write(_ write: HereWrite, reply: @escaping StoreReply<HereWritten>) {
        store.write(write) { [self] in answered($0, reply) }
    }

    func lines(of entries: [EntryName], reply: @escaping StoreReply<[HereLine?]>) {
        store.lines(of: entries) { [self] in answered($0, reply) }
    }

    func write(_ write: DeviceWrite, reply: @escaping StoreReply<DeviceWritten>) {
        store.write(write) { [self] in answered($0, reply) }
    }

    func write(_ write: PersonWrite, reply: @escaping StoreReply<PersonWritten>) {
        store.write(write) { [self] in answered($0, reply) }
    }

    func persons(of users: [UserID], reply: @escaping StoreReply<[Person?]>) {
        store.persons(of: users) { [self] in answered($0, reply) }
    }

    func personRevisions(of users: [UserID], reply: @escaping StoreReply<[Int64]>) {
        store.personRevisions(of: users) { [self] in answered($0, reply) }
    }

    func announce(_ notice: WorkerNotice, to incarnation: Incarnation) {
        store.announce(notice, to: incarnation) { _ in }
    }

    func signalTyping(_ signal: TypingSignal, isOpen: Bool, reply: @escaping StoreReply<TypingOutcome>) {
        let sent = NIODeadline.now()
        store.signalTyping(signal, isOpen: isOpen) { [self] in
            if case .success(.typing) = $0 { publishing.record(nanoseconds: (.now() - sent).nanoseconds) }
            answered($0, reply)
        }
    }

    func stopTyping(_ stop: TypingSignal, reply: @escaping StoreReply<TypingStopOutcome>) {
        store.stopTyping(stop) { [self] in answered($0, reply) }
    }

    func write(_ write: AccessWrite, reply: @escaping StoreReply<AccessWritten>) {
        store.write(write) { [self] in answered($0, reply) }
    }

    func room(_ read: RoomRead, reply: @escaping StoreReply<RoomSnapshot>) {
        store.room(
            read.conversation, users: read.users, withTyping: read.withTyping, mostMembers: read.mostMembers,
            mostHere: read.mostHere
        ) { [self] in answered($0, reply) }
    }

    func presence(of users: [UserID], known: KnownWorkers, reply: @escaping StoreReply<PresenceSnapshot>) {
        store.presence(of: users, known: known) { [self] in answered($0, reply) }
    }

    func audit(_ names: [SessionName], of incarnation: Incarnation, reply: @escaping StoreReply<[DeviceStanding]>) {
        store.audit(names, of: incarnation) { [self] in answered($0, reply) }
    }

    func subscribe(_ topic: Topic) {
        // The topic was unsubscribed and subscribed again within one tick. The subscription is still active, so no
        // confirmation arrives, unless it is lost before the next tick.
        let channel = store.names.channel(of: topic)
        guard subscriber.subscribe(channel, as: topic) else { return }
        eventLoop.assumeIsolated().execute { [self] in
            if subscriber.isConfirmed(channel) { shard?.after { $0.subscribed(topic, at: $1) } }
        }
    }

    func unsubscribe(_ topic: Topic) {
        subscriber.unsubscribe(store.names.channel(of: topic))
    }

    private func answered<Answer>(_ result: Result<Answer, RedisError>, _ reply: @escaping StoreReply<Answer>) {
        let result = result.mapError { error in
            warn(of: error)
            return error.hadNoEffect ? StoreFailure.withoutEffect : .unknown
        }
        guard let shard else { return }
        guard shard.isInEvent else { return reply(result) }
        // A command that cannot be sent fails at once. The reply comes as if it came from Redis.
        eventLoop.assumeIsolated().execute { [self] in
            if self.shard != nil { reply(result) }
        }
    }

    private func warn(of error: RedisError) {
        guard case .server = error.code, !error.isDenied else { return }
        if error.isForeignKey { return problems.warning("a Rollcall key has the wrong type", error) }
        problems.warning("Redis refused a command", error)
    }
}
