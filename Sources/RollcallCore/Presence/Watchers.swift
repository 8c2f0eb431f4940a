// The sessions that watch a user, with the number of their reasons: the client asked, and each conversation shared with
// the user.

/// Sessions, each with its number of reasons to watch. Nearly all sessions have one reason, which needs no extra
/// memory.
struct Watchers {
    private var all = IndexedSet<Session>()
    /// The number of additional reasons, for sessions with more than one.
    private var further: [Session: Int] = [:]

    var isEmpty: Bool { all.isEmpty }
    var sessions: [Session] { all.elements }

    func contains(_ session: Session) -> Bool { all.contains(session) }

    /// Adds a reason for a session.
    ///
    /// - Returns: whether it is the session's first.
    @discardableResult
    mutating func insert(_ session: Session) -> Bool {
        if all.insert(session) { return true }
        further[session, default: 0] += 1
        return false
    }

    /// Removes a reason of a session.
    ///
    /// - Returns: whether it was the last; false if the session had none.
    mutating func remove(_ session: Session) -> Bool {
        guard let more = further[session] else { return all.remove(session) }
        further[session] = more == 1 ? nil : more - 1
        return false
    }
}
