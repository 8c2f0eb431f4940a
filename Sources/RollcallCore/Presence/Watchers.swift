// Who watches a user, and whether for more than one reason: because the client asked, and for each conversation that
// both are in.

/// Sessions, each with how many reasons it has. Nearly all have one, which costs nothing beside the session's place.
struct Watchers: Sendable {
    private var roster = Roster<Session>()
    /// Of those that have more than one reason, how many more.
    private var further: [SessionKey: Int] = [:]

    var isEmpty: Bool { roster.isEmpty }
    var keys: [SessionKey] { roster.keys }

    func contains(_ key: SessionKey) -> Bool { roster.contains(key) }

    /// A session has one reason more.
    ///
    /// - Returns: whether it is the first.
    @discardableResult
    mutating func insert(_ key: SessionKey) -> Bool {
        if roster.insert(key) { return true }
        further[key, default: 0] += 1
        return false
    }

    /// A session has one reason less.
    ///
    /// - Returns: whether it was the last; false if it had none.
    mutating func remove(_ key: SessionKey) -> Bool {
        guard let more = further[key] else { return roster.remove(key) }
        further[key] = more == 1 ? nil : more - 1
        return false
    }
}
