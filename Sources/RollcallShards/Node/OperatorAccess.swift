// The requests of operators to a worker's node, in addition to those of servers.

package import RollcallCore
package import RollcallModel

/// A node as the admin port sees it.
///
/// Every method except ``live()`` throws ``Unavailable`` while Redis is away.
package protocol OperatorAccess: NodeAccess {
    /// Whether the worker is about to stop.
    var isDraining: Bool { get }

    /// Whether Redis answers reads but refuses writes.
    var refusesWrites: Bool { get }

    /// Returns one page of a conversation's members; `nil` if the conversation is not managed.
    ///
    /// - Throws: ``Unavailable``.
    func membersPage(of conversation: ConversationID, from cursor: UInt64, limit: Int) async throws -> MembersPage?

    /// Returns the events behind a cursor, at most `limit` and a reset; `nil` if events are off.
    ///
    /// - Throws: ``Unavailable``.
    func eventsPage(after cursor: EventID, limit: Int) async throws -> EventsPage?

    /// Returns for each of these users whether an app's server should send a push notification, in the same order. It
    /// does not throw: whom it could not ask about is unknown.
    func reach(of users: [UserID]) async -> [Reach]

    /// Shows a user as typing for this long, in place of what a server has said of the user there before.
    ///
    /// - Throws: ``ServerTypingRefusal``; ``Unavailable``.
    func type(_ user: UserID, in conversation: ConversationID, kind: TypingKind, for duration: Duration) async throws

    /// Ends whatever servers have said of a user's typing.
    func stopTyping(_ user: UserID, in conversation: ConversationID) async throws

    /// Explains a user's presence.
    func explanation(of user: UserID) async throws -> Explanation

    /// Returns all workers, including dead ones that are not swept yet.
    func workers() async throws -> WorkersReport

    /// Returns the data of the live view.
    func live() async throws -> LiveReport

    /// Ends the user's sessions on all workers, or those of one device; returns when they have ended.
    func sendAway(_ user: UserID, device: DeviceID?) async throws -> SentAway

    /// Revokes the tokens issued for the user until now, and ends the user's sessions.
    func revokeTokens(of user: UserID) async throws -> SentAway

    /// Revokes the user's tokens, ends their sessions, and erases their other data and their membership in these
    /// conversations.
    ///
    /// - Returns: `false` if a session did not end; the record then stays.
    /// - Throws: ``Unsettled`` if the worker cannot know all sessions.
    func erase(_ user: UserID, conversations: [ConversationID]) async throws -> Bool
}

/// This worker has just started, or Redis was away until recently: sessions may exist that no record names yet.
package struct Unsettled: Error, Hashable {
    /// When all workers will have reported their sessions.
    package var retryAfter: Duration
}

/// The result of ending sessions.
package struct SentAway: Hashable, Sendable, Codable {
    /// The devices whose session ended.
    package var sentAway: [DeviceID] = []
    /// Devices whose session did not end within 2 s, and devices of dead workers, which a sweep ends.
    package var unreached: [DeviceID] = []

    enum CodingKeys: String, CodingKey {
        case sentAway = "sent_away"
        case unreached
    }
}
