// What servers may ask of a worker's node, in process or through the admin port.

public import RollcallModel

/// A node as the admin port and embedding servers see it.
///
/// Every method throws ``Unavailable`` while Redis is away.
public protocol NodeAccess: Sendable {
    /// The presence of these users, in their order; a user never seen is offline without a last-seen.
    func presence(of users: [UserID]) async throws -> [Presence]

    /// Who types in this conversation, whoever asks.
    func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing

    /// The members' display names; `nil` if the conversation is not managed.
    func members(of conversation: ConversationID) async throws -> [UserID: String]?

    /// Makes exactly these the members; from now on the conversation is managed, even if there are none.
    func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws

    /// Adds a member, or renames one; from now on the conversation is managed.
    func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws

    /// Removes a member; their typing ends, and their sessions are told.
    func removeMember(_ user: UserID, of conversation: ConversationID) async throws

    /// Ends the management: from now on `conversations.default` decides.
    func endMembership(of conversation: ConversationID) async throws

    /// Whether this worker should be sent devices: it does not stop, and Redis has not been away for long.
    var isReady: Bool { get }
}

/// Redis is away, or refuses writes; the same call may succeed later.
public struct Unavailable: Error, Hashable, Sendable {
    /// When it is worth trying again.
    public var retryAfter: Duration
    /// Whether Redis answers and takes no writes: then reads succeed.
    public var refusesWrites: Bool

    public init(retryAfter: Duration = .seconds(1), refusesWrites: Bool = false) {
        self.retryAfter = retryAfter
        self.refusesWrites = refusesWrites
    }
}
