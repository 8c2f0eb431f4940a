// Those who wait to join a conversation: after a worker's death very many at once, of whom each costs the same.

internal import RollcallModel

/// Sessions that asked to join a room and are not in yet.
struct Lobby: Sendable {
    struct Waiting: Hashable, Sendable {
        var session: SessionKey
        var user: UserID
        var withPresence: Bool
        var since: Instant
        /// The joins to acknowledge: a client may ask again while it waits.
        var ids: [MessageID] = []
        /// Whether its membership is being read.
        var isRead = false
        /// Whether it is in, and only the members wait until its user may have more users looked up.
        var awaitsCredit = false
        /// The last typing signal that came while the join waited.
        var typing: Signal?
    }

    struct Signal: Hashable, Sendable {
        var id: MessageID?
        /// Its expiry counts from here, however long the join takes.
        var came: Instant
    }

    private var waiting: [SessionKey: Waiting] = [:]
    /// Each user's, in the order in which they came.
    private var ofUser: [UserID: [SessionKey]] = [:]
    /// Whose membership is to be read, in the order in which they came; who is gone, or being read, is passed over.
    private var unread: [SessionKey] = []

    var isEmpty: Bool { waiting.isEmpty }
    var users: some Collection<UserID> { ofUser.keys }
    /// Whether somebody waits for the members too.
    var wantsMembers: Bool { waiting.values.contains(where: \.withPresence) }

    /// One who waits; to be changed, not added or removed.
    subscript(session: SessionKey) -> Waiting? {
        get { waiting[session] }
        _modify { yield &waiting[session] }
    }

    func of(_ user: UserID) -> [Waiting] {
        (ofUser[user] ?? []).compactMap { waiting[$0] }
    }

    mutating func insert(_ new: Waiting) {
        waiting[new.session] = new
        ofUser[new.user, default: []].append(new.session)
        unread.append(new.session)
    }

    @discardableResult
    mutating func remove(_ session: SessionKey) -> Waiting? {
        guard let gone = waiting.removeValue(forKey: session) else { return nil }
        ofUser[gone.user]?.removeAll { $0 == session }
        if ofUser[gone.user]?.isEmpty == true { ofUser[gone.user] = nil }
        // Nearly all rooms stand for long and nobody waits there: an emptied collection would keep its memory.
        if waiting.isEmpty { self = Lobby() }
        return gone
    }

    /// The membership of this one is to be read again.
    mutating func readAgain(_ session: SessionKey) {
        guard waiting[session]?.isRead == true else { return }
        waiting[session]?.isRead = false
        unread.append(session)
    }

    /// Those whose membership is to be read, which begins now.
    mutating func takeUnread() -> [Waiting] {
        defer { unread = [] }
        return unread.compactMap { session in
            guard waiting[session]?.isRead == false else { return nil }
            waiting[session]?.isRead = true
            return waiting[session]
        }
    }
}
