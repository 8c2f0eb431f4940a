// How many messages the sessions of one user may send on one event loop. The budget belongs to the user, so a second session
// or a reconnect does not double it, and it is never a reason to close a session: while it is empty, messages wait. Sessions
// that wait take turns, one message each, so that none of them holds up another.

internal import DequeModule
internal import RollcallProtocol

/// The budgets of users who used theirs recently: `message_rate` messages per second, and `message_burst` at once. Full ones
/// for which nobody waits are not stored.
final class UserBudgets {
    private struct Budget {
        var bucket: TokenBucket
        /// Sessions with messages that wait, in the order of their turns.
        var waiting = Deque<Session>()

        mutating func charge(_ cost: Int, at now: Instant) -> Bool {
            guard waiting.isEmpty, bucket.next(at: now) <= now else { return false }
            bucket.take(cost, at: now)
            return true
        }
    }

    private let loop: Loop
    private let rate: Int
    private let burst: Int
    private var budgets: [UserID: Budget] = [:]
    /// The number of budgets above which full ones are dropped.
    private var crowded = UserBudgets.few

    private static let few = 64

    init(_ loop: Loop) {
        let limits = loop.settings.limits
        self.loop = loop
        (rate, burst) = (max(1, limits.messageRate), max(1, limits.messageBurst))
    }

    var count: Int { budgets.count }

    /// Charges a message that has just come, unless another session of the user waits for its turn.
    ///
    /// - Parameter cost: at most the burst. What is not there is owed: the next message waits for it, whoever sends it.
    /// - Returns: whether the message may be processed.
    func charge(_ cost: Int, to user: UserID, at now: Instant) -> Bool {
        let isCharged = budgets[user, default: Budget(bucket: TokenBucket(rate: rate, burst: burst, now: now))].charge(
            cost, at: now)
        guard budgets.count > crowded else { return isCharged }
        budgets = budgets.filter { !$0.value.bucket.isFull(at: now) || !$0.value.waiting.isEmpty }
        crowded = max(Self.few, budgets.count * 2)
        return isCharged
    }

    /// Charges for what has to happen whether the user can pay or not.
    func owe(_ cost: Int, by user: UserID, at now: Instant) {
        budgets[user, default: Budget(bucket: TokenBucket(rate: rate, burst: burst, now: now))].bucket.take(
            cost, at: now)
    }

    /// Gives back what a message cost too much. The sessions of the user that wait for their budget go on.
    func refund(_ cost: Int, to user: UserID, at now: Instant) {
        budgets[user]?.bucket.refund(cost)
        if isWaited(for: user) { loop.remind(.turns(user), at: now) }
    }

    // MARK: Turns

    /// Puts a session at the end of its user's queue.
    func waits(_ session: Session, of user: UserID, at now: Instant) {
        budgets[user, default: Budget(bucket: TokenBucket(rate: rate, burst: burst, now: now))].waiting.append(session)
    }

    private func isWaited(for user: UserID) -> Bool { budgets[user]?.waiting.isEmpty == false }

    /// Removes a session that no longer waits.
    func forget(_ session: Session, of user: UserID) {
        guard isWaited(for: user) else { return }
        budgets[user]?.waiting.removeAll { $0 == session }
    }

    enum Turn {
        /// It is this session's turn, and its next message is charged.
        case of(Session)
        /// Nobody's turn comes before this moment.
        case later(Instant)
    }

    /// Takes the session from the queue whose turn it is, and charges its next message.
    ///
    /// - Returns: `nil` if nobody waits.
    func takeTurn(of user: UserID, at now: Instant, cost: (Session) -> Int) -> Turn? {
        guard isWaited(for: user), let next = budgets[user]?.bucket.next(at: now) else { return nil }
        guard next <= now, let session = budgets[user]?.waiting.popFirst() else { return .later(next) }
        budgets[user]?.bucket.take(cost(session), at: now)
        return .of(session)
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

    /// When there will be a token, unless it is taken before; not later than now if there is one.
    func next(at now: Instant) -> Instant {
        Instant(nanoseconds: max(full.nanoseconds, now.nanoseconds) + (1 - Int64(burst)) * pause)
    }

    /// Takes this many tokens. Those that are not there are owed.
    mutating func take(_ count: Int, at now: Instant) {
        full = Instant(nanoseconds: max(full.nanoseconds, now.nanoseconds) + Int64(count) * pause)
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
