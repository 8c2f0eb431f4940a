// Reads the presence of one user or many once. The answer may arrive in several messages, partly, or not at all.

/// One call that reads the presence of some users, and what was received for it.
struct Fetch {
    let users: [UserID]
    private var awaited: Set<UserID>
    private(set) var found: [UserID: Presence] = [:]

    init(of users: [UserID]) {
        awaited = Set(users)
        self.users = awaited.sorted()
    }

    var isComplete: Bool { awaited.isEmpty }

    /// The users to ask for, again after a reconnect or while Redis is away.
    var missing: [UserID] { users.filter(awaited.contains) }

    mutating func heard(_ presence: [Presence]) {
        for one in presence where awaited.remove(one.user) != nil { found[one.user] = one }
    }
}
