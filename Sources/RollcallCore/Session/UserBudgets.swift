// How many messages the sessions of one user may send on one event loop. The budget belongs to the user, so a second session
// or a reconnect does not double it, and it is never a reason to close a session: while it is empty, messages wait.

internal import RollcallProtocol

/// The budgets of users who used theirs recently: `message_rate` messages per second, and `message_burst` at once. Full ones
/// are not stored.
struct UserBudgets: Sendable {
    private let rate: Int
    private let burst: Int
    private var budgets: [UserID: TokenBucket] = [:]
    /// The number of budgets above which full ones are dropped.
    private var crowded = UserBudgets.few

    private static let few = 64

    init(_ limits: ServerMessage.Limits) {
        (rate, burst) = (max(1, limits.messageRate), max(1, limits.messageBurst))
    }

    var count: Int { budgets.count }

    /// Charges a message, if the user has what it costs.
    ///
    /// - Parameter cost: at most the burst.
    /// - Returns: otherwise, when the user will have it.
    mutating func charge(_ cost: Int, to user: UserID, at now: Instant) -> Instant? {
        let moment = budgets[user, default: TokenBucket(rate: rate, burst: burst, now: now)].take(cost, at: now)
        guard budgets.count > crowded else { return moment }
        budgets = budgets.filter { !$0.value.isFull(at: now) }
        crowded = max(Self.few, budgets.count * 2)
        return moment
    }

    /// Gives back what a message cost too much.
    mutating func refund(_ cost: Int, to user: UserID) {
        budgets[user]?.refund(cost)
    }
}
