// What operators may ask of a worker's node, beside what servers may.

internal import RollcallCore
package import RollcallModel

/// A node as the admin port sees it.
///
/// Every method but ``live()`` throws ``Unavailable`` while Redis is away.
protocol OperatorAccess: NodeAccess {
    /// Whether Redis answers this worker's reads and refuses its writes.
    var refusesWrites: Bool { get }

    /// A part of a conversation's members; `nil` if the conversation is not managed.
    ///
    /// - Throws: ``Unavailable``, ``AnswerTooLarge``.
    func membersPage(of conversation: ConversationID, from cursor: UInt64, limit: Int) async throws -> MembersPage?

    /// Why a user is shown as they are.
    func explanation(of user: UserID) async throws -> Explanation

    /// All workers, those included that are dead and not swept yet.
    func workers() async throws -> WorkersReport

    /// What there is to be seen just now.
    func live() async throws -> LiveReport

    /// Ends the sessions that the user has now, or one device's, on whatever worker; returns when that is so.
    func sendAway(_ user: UserID, device: DeviceID?) async throws -> SentAway

    /// Takes no token that was issued for the user before, and ends the sessions that there are.
    func revokeTokens(of user: UserID) async throws -> SentAway

    /// Revokes the user's tokens, ends their sessions, and erases what else is known of them, and their membership in
    /// these conversations.
    ///
    /// - Returns: `false` if a session would not end; then the record stays.
    /// - Throws: ``Unsettled`` where it cannot be known which sessions there are.
    func erase(_ user: UserID, conversations: [ConversationID]) async throws -> Bool
}

/// This worker has just started, or was without Redis until just now: sessions may stand of which no record tells yet.
struct Unsettled: Error, Hashable {
    /// When all workers have said what they hold.
    var retryAfter: Duration
}

/// What became of sessions that were to end.
package struct SentAway: Hashable, Sendable, Codable {
    /// The devices whose session ended.
    package var sentAway: [DeviceID] = []
    /// Those whose session did not within two seconds, and those of dead workers, which a sweep ends.
    package var unreached: [DeviceID] = []

    enum CodingKeys: String, CodingKey {
        case sentAway = "sent_away"
        case unreached
    }
}
