// What a shard asks of Redis, and what it hears from there.

public import RollcallProtocol

/// Why a request to Redis failed.
public enum StoreFailure: Error, Hashable, Sendable {
    /// Redis did nothing: the request was never sent, or was refused as a whole.
    case withoutEffect
    /// The reply was lost: Redis may have done what it was asked.
    case unknown
}

/// Takes the reply to a request, once.
public typealias StoreReply<Answer> = (Result<Answer, StoreFailure>) -> Void

/// Redis, as a shard uses it. Requests of one shard take effect in their order.
///
/// Replies, changes and confirmations of channels come on the shard's thread, and never before the call that asked for
/// them has returned: the shard would be in the middle of a decision.
public protocol PresenceStore: AnyObject {
    /// Puts sessions on an incarnation's list.
    ///
    /// - Parameters:
    ///   - until: by Redis's clock: later, the request does nothing.
    ///   - reply: `false` if it came too late and had no effect.
    func list(
        _ names: [SessionName], of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>)

    /// Puts an entry on an incarnation's list, as ``list(_:of:until:reply:)`` sessions.
    func list(_ entry: EntryName, of incarnation: Incarnation, until: Timestamp, reply: @escaping StoreReply<Bool>)

    /// Whether an incarnation's list has an entry.
    func isListed(_ entry: EntryName, of incarnation: Incarnation, reply: @escaping StoreReply<Bool>)

    /// Takes a session or an entry off an incarnation's list.
    func unlist(_ item: ListItem, of incarnation: Incarnation, reply: @escaping StoreReply<Void>)

    /// Writes that a session is in a conversation, or not, or what apps' servers say of a user.
    func write(_ write: HereWrite, reply: @escaping StoreReply<HereWritten>)

    /// Reads the lines of these entries, in their order; `nil` for one that has none.
    func lines(of entries: [EntryName], reply: @escaping StoreReply<[HereLine?]>)

    /// Writes a device's state.
    func write(_ write: DeviceWrite, reply: @escaping StoreReply<DeviceWritten>)

    /// Changes what a user has decided that others see, or stores it again.
    func write(_ write: PersonWrite, reply: @escaping StoreReply<PersonWritten>)

    /// Reads what these users have decided, in their order; `nil` for nothing that this version understands.
    func persons(of users: [UserID], reply: @escaping StoreReply<[Person?]>)

    /// Reads the revisions that the records of these users name, in their order; 0 for none.
    func personRevisions(of users: [UserID], reply: @escaping StoreReply<[Int64]>)

    /// Tells a worker. There is no reply.
    func announce(_ notice: WorkerNotice, to incarnation: Incarnation)

    /// - Parameter isOpen: whether the session may type there while the conversation has no members.
    func signalTyping(_ signal: TypingSignal, isOpen: Bool, reply: @escaping StoreReply<TypingOutcome>)

    func stopTyping(_ stop: TypingSignal, reply: @escaping StoreReply<TypingStopOutcome>)

    /// Notes what an app's server answered about access.
    func write(_ write: AccessWrite, reply: @escaping StoreReply<AccessWritten>)

    /// Reads a conversation.
    func room(_ read: RoomRead, reply: @escaping StoreReply<RoomSnapshot>)

    /// Reads users, and the leases of the workers that their records name and that are not `known`.
    func presence(of users: [UserID], known: KnownWorkers, reply: @escaping StoreReply<PresenceSnapshot>)

    /// Reads what Redis holds of these sessions, in their order.
    func audit(_ names: [SessionName], of incarnation: Incarnation, reply: @escaping StoreReply<[DeviceStanding]>)

    /// Subscribes to a topic, or has its channel confirmed anew, whose changes come meanwhile. ``Shard/subscribed(_:at:)`` follows
    /// each time the channel is confirmed, ``Shard/subscriptionLost(_:)`` each time it is lost.
    func subscribe(_ topic: Topic)
    func unsubscribe(_ topic: Topic)
}

/// A read of a conversation.
public struct RoomRead: Hashable, Sendable {
    public var conversation: ConversationID
    /// The users whose membership is read.
    public var users: [UserID]
    public var withTyping: Bool
    /// The most members to read; 0 for none.
    public var mostMembers: Int
    /// The most users to read who are here; 0 for none.
    public var mostHere = 0
}
