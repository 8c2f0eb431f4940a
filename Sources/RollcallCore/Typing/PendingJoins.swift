// Sessions that wait to join a conversation. After a worker's death there may be very many at once; each costs the
// same.

internal import RollcallProtocol

/// Sessions that asked to join a room and have not joined yet.
struct PendingJoins {
    struct Join: Hashable {
        var session: Session
        var user: UserID
        var withPresence: Bool
        var withHere: Bool
        /// How many `join` messages with presence were charged in advance.
        var charged = 0
        /// The join messages to acknowledge: a client may ask again while it waits.
        var ids: [MessageID] = []
        /// Whether the user's membership is being read.
        var isRead = false
        /// The last typing signal received while the join waited.
        var typing: Signal?
        /// The last `enter`.
        var enter: Enter?
    }

    struct Signal: Hashable, Sendable {
        var id: MessageID?
        var kind: TypingKind
        /// When the signal arrived. Its expiry counts from here, even if the join takes longer.
        var came: Instant
    }

    struct Enter: Hashable, Sendable {
        var data: HereData?
        var id: MessageID?
    }

    private var joins: [Session: Join] = [:]
    /// Each user's sessions, in the order in which they asked.
    private var ofUser: [UserID: [Session]] = [:]
    /// Sessions whose membership has to be read, in order. Entries that are gone or already being read are skipped.
    private var unread: [Session] = []

    var isEmpty: Bool { joins.isEmpty }
    var users: some Collection<UserID> { ofUser.keys }
    /// Whether a waiting session also wants the members.
    var wantsMembers: Bool { joins.values.contains(where: \.withPresence) }

    subscript(session: Session) -> Join? { joins[session] }

    /// Changes the join of a session, which must be waiting.
    mutating func change(_ session: Session, _ change: (inout Join) -> Void) {
        guard let index = joins.index(forKey: session) else {
            return assertionFailure("a join was changed after it ended")
        }
        change(&joins.values[index])
    }

    func of(_ user: UserID) -> [Join] {
        (ofUser[user] ?? []).compactMap { joins[$0] }
    }

    mutating func insert(_ new: Join) {
        joins[new.session] = new
        ofUser[new.user, default: []].append(new.session)
        unread.append(new.session)
    }

    @discardableResult
    mutating func remove(_ session: Session) -> Join? {
        guard let gone = joins.removeValue(forKey: session) else { return nil }
        ofUser[gone.user]?.removeAll { $0 == session }
        if ofUser[gone.user]?.isEmpty == true { ofUser[gone.user] = nil }
        // Most rooms are long-lived with no pending joins. An emptied collection would keep its memory.
        if joins.isEmpty { self = PendingJoins() }
        return gone
    }

    /// Schedules another read of this session's membership.
    mutating func readAgain(_ session: Session) {
        guard joins[session]?.isRead == true else { return }
        joins[session]?.isRead = false
        unread.append(session)
    }

    /// Returns the sessions whose membership has to be read, and marks them as being read.
    mutating func takeUnread() -> [Join] {
        defer { unread = [] }
        return unread.compactMap { session in
            guard joins[session]?.isRead == false else { return nil }
            joins[session]?.isRead = true
            return joins[session]
        }
    }
}
