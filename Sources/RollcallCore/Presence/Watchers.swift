// The sessions that watch a user, with the number of their reasons: the client asked, and each conversation shared with
// the user.

/// Sessions, each with its number of reasons to watch. Nearly all sessions have one reason, which needs no extra
/// memory.
struct Watchers {
    private var sessions = IndexedSet<SessionKey>()
    /// The number of additional reasons, for sessions with more than one.
    private var further: [SessionKey: Int] = [:]

    var isEmpty: Bool { sessions.isEmpty }
    var keys: [SessionKey] { sessions.keys }

    func contains(_ key: SessionKey) -> Bool { sessions.contains(key) }

    /// Adds a reason for a session.
    ///
    /// - Returns: whether it is the session's first.
    @discardableResult
    mutating func insert(_ key: SessionKey) -> Bool {
        if sessions.insert(key) { return true }
        further[key, default: 0] += 1
        return false
    }

    /// Removes a reason of a session.
    ///
    /// - Returns: whether it was the last; false if the session had none.
    mutating func remove(_ key: SessionKey) -> Bool {
        guard let more = further[key] else { return sessions.remove(key) }
        further[key] = more == 1 ? nil : more - 1
        return false
    }
}
