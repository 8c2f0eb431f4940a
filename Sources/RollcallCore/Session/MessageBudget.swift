// How fast a session's messages are taken. A network or a worker that stalls bunches what a client sent evenly, so a
// session over its budget is not closed but read more slowly; only a client that keeps sending too much is closed.

internal import RollcallModel

/// A session's budget of messages: `message_rate` a second in the long run, `message_burst` at once.
///
/// A connected session earns messages while nothing arrives, for up to five minutes (``ShardSettings/longestStall``).
/// After a stall it may therefore catch up, at twice its rate. A client that keeps to the rate and the burst never uses
/// up what it has earned, however a stall of that length bunches its messages.
struct MessageBudget: Hashable, Sendable {
    enum Verdict: Hashable, Sendable {
        case taken
        /// The message waits until this moment.
        ///
        /// - Parameter isFirst: whether this begins an episode of waiting, which ends with a pause.
        case wait(until: Instant, isFirst: Bool)
        /// The session has sent more than it earned for ``ShardSettings/overBudget``, without a pause.
        case tooMany
    }

    /// What the session may send.
    private var earned: TokenBucket
    /// How fast it may catch up.
    private var pace: TokenBucket
    /// Since when the session has sent more than it earned.
    private var overSince: Instant?
    private var isSlowed = false
    /// How many unused messages are a pause: what is earned in a second, but not just one.
    private let aPause: UInt32

    init(_ limits: ServerMessage.Limits, now: Instant) {
        let rate = Int(UInt32(clamping: max(1, limits.messageRate)))
        let burst = Int(UInt32(clamping: max(1, limits.messageBurst)))
        let stall = rate * Int(ShardSettings.longestStall / .seconds(1))
        earned = TokenBucket(rate: rate, burst: burst + stall, lacking: stall, now: now)
        pace = TokenBucket(rate: rate * 2, burst: burst, now: now)
        aPause = UInt32(clamping: max(2, rate))
    }

    /// Takes one message.
    ///
    /// - Parameter cost: how many messages it counts as.
    mutating func take(_ cost: Int, at now: Instant) -> Verdict {
        if earned.has(Int64(aPause), at: now) { overSince = nil }
        guard !earned.has(1, at: now) || !pace.has(1, at: now) else {
            if earned.has(Int64(aPause), at: now), pace.isFull(at: now) { isSlowed = false }
            earned.charge(cost, at: now)
            pace.charge(cost, at: now)
            return .taken
        }
        if !earned.has(1, at: now) {
            overSince = overSince ?? now
            if let overSince, now - overSince >= ShardSettings.overBudget { return .tooMany }
        }
        defer { isSlowed = true }
        // Several are taken together: a timer for each message would cost more than the message.
        let next = max(earned.nextToken, pace.nextToken, now + ShardSettings.slowedPause)
        return .wait(until: next, isFirst: !isSlowed)
    }
}
