// How many users the sessions of one user may have looked up: the budget belongs to the user, so that a second session,
// or a reconnect, does not double it.

internal import RollcallModel

/// The budgets of those who have had users looked up lately. A full one is not kept.
struct LookupBudgets: Sendable {
    private let rate: Int
    private let burst: Int
    private var budgets: [UserID: TokenBucket] = [:]
    /// How many budgets there are when full ones are next dropped.
    private var crowded = LookupBudgets.few

    private static let few = 64
    /// Showing a user again, or reading a name, costs this part of a lookup.
    static let cheap = 10

    init(_ settings: ShardSettings) {
        let (users, bounds) = (max(1, settings.limits.watchedUsers), settings.bounds)
        rate = max(1, users / bounds.secondsToNameAll)
        burst = users * bounds.namesAtOnce
    }

    var count: Int { budgets.count }

    /// When this user may have somebody looked up again; `nil` if now.
    func nextLookup(by user: UserID, at now: Instant) -> Instant? {
        guard let budget = budgets[user], !budget.hasCredit(at: now) else { return nil }
        return budget.nextCredit
    }

    /// Charges lookups, be they more than there is credit for.
    mutating func charge(_ lookups: Int, to user: UserID, at now: Instant) {
        guard lookups > 0 else { return }
        budgets[user, default: TokenBucket(rate: rate, burst: burst, now: now)].charge(lookups, at: now)
        guard budgets.count > crowded else { return }
        budgets = budgets.filter { !$0.value.isFull(at: now) }
        crowded = max(Self.few, budgets.count * 2)
    }

    /// What it costs to name `users`, of whom `added` are looked up and the others only shown again.
    static func cost(of users: Int, added: Int) -> Int { added + (users - added) / cheap }
}
