// What all sessions of one user may cause together: lookups of other users, and signals of which others are told. The
// budget belongs to the user, so a second session or a reconnect does not double it.

internal import RollcallModel

/// The budgets of users who used theirs recently. Full budgets are not stored.
struct UserBudgets: Sendable {
    private let rate: Int
    private let burst: Int
    private var budgets: [UserID: TokenBucket] = [:]
    /// The number of budgets above which full ones are dropped.
    private var crowded = UserBudgets.few

    private static let few = 64
    /// Showing a user again, or reading a name, costs 1/10 of a lookup.
    static let cheap = 10

    init(rate: Int, burst: Int) {
        (self.rate, self.burst) = (max(1, rate), burst)
    }

    var count: Int { budgets.count }

    /// Returns when this user has credit again; `nil` if now.
    func next(of user: UserID, at now: Instant) -> Instant? {
        guard let budget = budgets[user], !budget.hasCredit(at: now) else { return nil }
        return budget.nextCredit
    }

    /// Charges a cost, even if it exceeds the credit.
    mutating func charge(_ cost: Int, to user: UserID, at now: Instant) {
        guard cost > 0 else { return }
        budgets[user, default: TokenBucket(rate: rate, burst: burst, now: now)].charge(cost, at: now)
        guard budgets.count > crowded else { return }
        budgets = budgets.filter { !$0.value.isFull(at: now) }
        crowded = max(Self.few, budgets.count * 2)
    }

    /// The lookups that naming `users` costs, of which `added` are looked up and the rest only shown again.
    static func cost(of users: Int, added: Int) -> Int { added + (users - added) / cheap }
}
