// The requests of servers to a worker's node, in process or through the admin port.

public import RollcallModel

/// A node as the admin port and embedding servers see it.
///
/// Every method throws ``Unavailable`` while Redis is away.
public protocol NodeAccess: Sendable {
    /// Returns the presence of these users, in the same order. A user who was never seen is offline without a last-seen
    /// time.
    func presence(of users: [UserID]) async throws -> [Presence]

    /// Returns what Redis holds of these users, in the same order: what events tell. Devices of a worker that has died count
    /// until they are swept, within the lease plus two seconds.
    func storedPresence(of users: [UserID]) async throws -> [Presence]

    /// Returns who is typing in this conversation.
    func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing

    /// Returns the members' display names; `nil` if the conversation is not managed.
    func members(of conversation: ConversationID) async throws -> [UserID: String]?

    /// Replaces all members. The conversation is then managed, even if it has no members.
    func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws

    /// Adds or renames a member. The conversation is then managed.
    func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws

    /// Removes a member, ends their typing, and notifies their sessions.
    func removeMember(_ user: UserID, of conversation: ConversationID) async throws

    /// Deletes the member list. `conversations.default` then applies.
    func endMembership(of conversation: ConversationID) async throws

    /// Whether load balancers should send devices here: the worker is not stopping, and Redis was not away for long.
    var isReady: Bool { get }
}

/// Redis is away or refuses writes. The same call may succeed later.
public struct Unavailable: Error, Hashable, Sendable {
    /// When to retry.
    public var retryAfter: Duration
    /// Whether Redis answers but refuses writes. Reads then succeed.
    public var refusesWrites: Bool

    public init(retryAfter: Duration = .seconds(1), refusesWrites: Bool = false) {
        self.retryAfter = retryAfter
        self.refusesWrites = refusesWrites
    }
}
