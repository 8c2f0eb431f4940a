// The sessions that watch a user, with the number of their reasons: the client asked, and each conversation shared with
// the user.

/// Sessions, each with its number of reasons to watch. Nearly all sessions have one reason, which needs no extra
/// memory.
struct Watchers: Sendable {
    private var roster = Roster<Session>()
    /// The number of additional reasons, for sessions with more than one.
    private var further: [SessionKey: Int] = [:]

    var isEmpty: Bool { roster.isEmpty }
    var keys: [SessionKey] { roster.keys }

    func contains(_ key: SessionKey) -> Bool { roster.contains(key) }

    /// Adds a reason for a session.
    ///
    /// - Returns: whether it is the session's first.
    @discardableResult
    mutating func insert(_ key: SessionKey) -> Bool {
        if roster.insert(key) { return true }
        further[key, default: 0] += 1
        return false
    }

    /// Removes a reason of a session.
    ///
    /// - Returns: whether it was the last; false if the session had none.
    mutating func remove(_ key: SessionKey) -> Bool {
        guard let more = further[key] else { return roster.remove(key) }
        further[key] = more == 1 ? nil : more - 1
        return false
    }
}
