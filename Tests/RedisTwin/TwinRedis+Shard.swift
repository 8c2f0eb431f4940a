// The twin as the store of a shard. Requests wait until the test has Redis execute them, and their replies until the test
// has them arrive.

public import RollcallCore
public import RollcallProtocol

/// The store of a shard whose test decides when everything happens.
public final class TwinStore: PresenceStore {
    /// A request of the shard that waits for the test.
    public struct Asked: CustomStringConvertible {
        public enum Request: Hashable {
            case list([SessionName])
            case unlist(ListItem)
            case write(DeviceWrite)
            case listEntry(EntryName)
            case writeHere(HereWrite)
            case lines([EntryName])
            case announce(WorkerNotice)
            case isListed(EntryName)
            case signalTyping(TypingSignal)
            case stopTyping(TypingSignal)
            case access(AccessWrite)
            case person(PersonWrite)
            case persons([UserID])
            case personRevisions([UserID])
            case room(RoomRead)
            case presence([UserID], known: KnownWorkers)
            case audit([SessionName])
        }

        public let request: Request
        fileprivate let execute: (inout TwinRedis) -> () -> Void
        /// Has it fail.
        public let fail: (StoreFailure) -> Void

        public var description: String { "\(request)" }
    }

    /// What waits, in order.
    public var asked: [Asked] = []
    /// Called with each request, and with each topic that is subscribed to or not any longer.
    public var onAsked: (Asked.Request) -> Void = { _ in }
    public var onSubscribe: (Topic) -> Void = { _ in }
    public var onUnsubscribe: (Topic) -> Void = { _ in }

    public init() {}

    public func list(
        _ names: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) {
        ask(.list(names), reply) { $0.record(names, of: incarnation, until: until) }
    }

    public func list(
        _ entry: EntryName, of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>
    ) {
        ask(.listEntry(entry), reply) { $0.record(entry, of: incarnation, until: until) }
    }

    public func isListed(_ entry: EntryName, of incarnation: Incarnation, reply: @escaping StoreReply<Bool>) {
        ask(.isListed(entry), reply) { $0.entries[incarnation]?.contains(entry) == true }
    }

    public func unlist(_ item: ListItem, of incarnation: Incarnation, reply: @escaping StoreReply<Void>) {
        ask(.unlist(item), reply) { $0.unrecord([item], of: incarnation) }
    }

    public func write(_ write: HereWrite, reply: @escaping StoreReply<HereWritten>) {
        ask(.writeHere(write), reply) { $0.write(write) }
    }

    public func lines(of entries: [EntryName], reply: @escaping StoreReply<[HereLine?]>) {
        ask(.lines(entries), reply) { $0.lines(of: entries) }
    }

    public func write(_ write: DeviceWrite, reply: @escaping StoreReply<DeviceWritten>) {
        ask(.write(write), reply) { $0.write(write) }
    }

    public func write(_ write: PersonWrite, reply: @escaping StoreReply<PersonWritten>) {
        ask(.person(write), reply) { $0.write(write) }
    }

    public func persons(of users: [UserID], reply: @escaping StoreReply<[Person?]>) {
        ask(.persons(users), reply) { redis in users.map { redis.person(of: $0) } }
    }

    public func personRevisions(of users: [UserID], reply: @escaping StoreReply<[Int64]>) {
        ask(.personRevisions(users), reply) { redis in users.map { redis.personRevisions(of: $0).named } }
    }

    public func announce(_ notice: WorkerNotice, to incarnation: Incarnation) {
        ask(.announce(notice), { _ in }) { $0.announce(notice, to: incarnation) }
    }

    public func signalTyping(_ signal: TypingSignal, isOpen: Bool, reply: @escaping StoreReply<TypingOutcome>) {
        ask(.signalTyping(signal), reply) { $0.signalTyping(signal, isOpen: isOpen) }
    }

    public func stopTyping(_ stop: TypingSignal, reply: @escaping StoreReply<TypingStopOutcome>) {
        ask(.stopTyping(stop), reply) { $0.stopTyping(stop) }
    }

    public func write(_ write: AccessWrite, reply: @escaping StoreReply<AccessWritten>) {
        ask(.access(write), reply) { $0.write(write) }
    }

    public func room(_ read: RoomRead, reply: @escaping StoreReply<RoomSnapshot>) {
        ask(.room(read), reply) {
            $0.room(
                read.conversation, users: read.users, withTyping: read.withTyping, mostMembers: read.mostMembers,
                mostHere: read.mostHere)
        }
    }

    public func presence(of users: [UserID], known: KnownWorkers, reply: @escaping StoreReply<PresenceSnapshot>) {
        ask(.presence(users, known: known), reply) { $0.presence(of: users, known: known) }
    }

    public func audit(
        _ names: [SessionName], of incarnation: Incarnation, reply: @escaping StoreReply<[DeviceStanding]>
    ) {
        ask(.audit(names), reply) { $0.audit(names, of: incarnation) }
    }

    public func subscribe(_ topic: Topic) { onSubscribe(topic) }

    public func unsubscribe(_ topic: Topic) { onUnsubscribe(topic) }

    private func ask<Answer>(
        _ request: Asked.Request, _ reply: @escaping StoreReply<Answer>,
        _ execute: @escaping (inout TwinRedis) -> Answer
    ) {
        onAsked(request)
        asked.append(
            Asked(
                request: request,
                execute: { redis in
                    let answer = execute(&redis)
                    return { reply(.success(answer)) }
                }, fail: { reply(.failure($0)) }))
    }
}

extension TwinRedis {
    /// Executes a shard's request now.
    ///
    /// - Returns: has the reply arrive, which the test may do later.
    public mutating func reply(to asked: TwinStore.Asked) -> () -> Void { asked.execute(&self) }
}

extension Published {
    /// The event that a shard receives if it is subscribed to the topic.
    public var news: ShardEvent {
        switch self {
        case .typing(let change, let conversation): { $0.typingChanged(change, in: conversation, at: $1) }
        case .presence(let change, _): { $0.presenceChanged(change, at: $1) }
        case .person(let change): { $0.personChanged(change, at: $1) }
        case .members(let change, let conversation): { $0.memberChanged(change, in: conversation, at: $1) }
        case .here(let change, let conversation): { $0.hereChanged(change, in: conversation, at: $1) }
        case .notice(let notice, _): { $0.noticed(notice, at: $1) }
        }
    }
}
