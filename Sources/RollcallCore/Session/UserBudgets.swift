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

// MARK: A bucket

// Rate limits with a burst: for the messages of a user, and for changes of presence.

/// A token bucket, stored as the moment at which it is full again. It refills without a timer.
struct TokenBucket: Hashable, Sendable {
    /// Tokens per second.
    private let rate: UInt32
    private let burst: UInt32
    private var full: Instant

    /// - Parameter rate: tokens per second, at least 1.
    init(rate: Int, burst: Int, now: Instant) {
        self.rate = UInt32(clamping: max(1, rate))
        self.burst = UInt32(clamping: burst)
        full = now
    }

    func isFull(at now: Instant) -> Bool { full <= now }

    /// Takes this many tokens if there are so many.
    ///
    /// - Returns: otherwise, when there will be, unless others are taken before.
    mutating func take(_ count: Int, at now: Instant) -> Instant? {
        let after = Instant(nanoseconds: max(full.nanoseconds, now.nanoseconds) + Int64(count) * pause)
        let first = Instant(nanoseconds: after.nanoseconds - Int64(burst) * pause)
        guard first <= now else { return first }
        full = after
        return nil
    }

    /// Gives back tokens; those beyond the burst are lost.
    mutating func refund(_ count: Int) { full = Instant(nanoseconds: full.nanoseconds - Int64(count) * pause) }

    /// Nanoseconds per token.
    private var pause: Int64 { 1_000_000_000 / Int64(rate) }
}

/// Lets four changes through at once, and regains one per interval. The interval is the same at each call.
struct ChangePace: Hashable, Sendable {
    private static let burst = 4
    /// When all four are regained.
    private var full = Instant(nanoseconds: 0)

    /// When the next change may pass.
    func next(every interval: Duration) -> Instant { full + interval * (1 - Self.burst) }

    func isRested(at now: Instant) -> Bool { full <= now }

    /// Handles that a change passed.
    mutating func passed(at now: Instant, every interval: Duration) { full = max(full, now) + interval }
}
