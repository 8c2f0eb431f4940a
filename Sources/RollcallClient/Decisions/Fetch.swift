// Presence once, for one user or many: the answer may come in several messages, or in part, or not at all.

/// One call for the presence of some users, and what has come of it.
struct Fetch {
    let users: [UserID]
    private var awaited: Set<UserID>
    private(set) var found: [UserID: Presence] = [:]

    init(of users: [UserID]) {
        awaited = Set(users)
        self.users = awaited.sorted()
    }

    var isComplete: Bool { awaited.isEmpty }

    /// Those to ask for (again, after a reconnect or while Redis is away).
    var missing: [UserID] { users.filter(awaited.contains) }

    mutating func heard(_ presence: [Presence]) {
        for one in presence where awaited.remove(one.user) != nil { found[one.user] = one }
    }
}
