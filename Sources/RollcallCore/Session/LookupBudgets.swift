// How many user lookups the sessions of one user may cause. The budget belongs to the user, so a second session or a
// reconnect does not double it.

internal import RollcallModel

/// The budgets of users who caused lookups recently. Full budgets are not stored.
struct LookupBudgets: Sendable {
    private let rate: Int
    private let burst: Int
    private var budgets: [UserID: TokenBucket] = [:]
    /// The number of budgets above which full ones are dropped.
    private var crowded = LookupBudgets.few

    private static let few = 64
    /// Showing a user again, or reading a name, costs 1/10 of a lookup.
    static let cheap = 10

    init(_ settings: ShardSettings) {
        let (users, bounds) = (max(1, settings.limits.watchedUsers), settings.bounds)
        rate = max(1, users / bounds.secondsToNameAll)
        burst = users * bounds.namesAtOnce
    }

    var count: Int { budgets.count }

    /// Returns when this user may cause another lookup; `nil` if now.
    func nextLookup(by user: UserID, at now: Instant) -> Instant? {
        guard let budget = budgets[user], !budget.hasCredit(at: now) else { return nil }
        return budget.nextCredit
    }

    /// Charges lookups, even if they exceed the credit.
    mutating func charge(_ lookups: Int, to user: UserID, at now: Instant) {
        guard lookups > 0 else { return }
        budgets[user, default: TokenBucket(rate: rate, burst: burst, now: now)].charge(lookups, at: now)
        guard budgets.count > crowded else { return }
        budgets = budgets.filter { !$0.value.isFull(at: now) }
        crowded = max(Self.few, budgets.count * 2)
    }

    /// The cost of naming `users`, of which `added` are looked up and the rest only shown again.
    static func cost(of users: Int, added: Int) -> Int { added + (users - added) / cheap }
}
