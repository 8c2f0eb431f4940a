// Limits how fast a session's messages are processed. A stalled network or worker delivers in one burst what a client
// sent evenly. A session over its budget is therefore read more slowly; only a client that keeps sending too much is
// closed.

internal import RollcallModel

/// A session's message budget: `message_rate` per second in the long run, `message_burst` at once.
///
/// A connected session earns messages while nothing arrives, for up to five minutes (``ShardSettings/longestStall``).
/// After a stall it may therefore catch up, at twice its rate. A client that keeps to the rate and the burst never uses
/// up its budget, even if a stall of that length bunches its messages.
struct MessageBudget: Hashable, Sendable {
    enum Verdict: Hashable, Sendable {
        case taken
        /// The message waits until this moment.
        ///
        /// - Parameter isFirst: whether this starts an episode of waiting, which ends with a pause.
        case wait(until: Instant, isFirst: Bool)
        /// The session has sent more than it earned for ``ShardSettings/overBudget``, without a pause.
        case tooMany
    }

    /// How many messages the session may send.
    private var earned: TokenBucket
    /// How fast the session may catch up.
    private var pace: TokenBucket
    /// Since when the session has sent more than it earned.
    private var overSince: Instant?
    private var isSlowed = false
    /// The number of unused messages that counts as a pause: one second's worth, but at least two.
    private let aPause: UInt32

    init(_ limits: ServerMessage.Limits, now: Instant) {
        let rate = Int(UInt32(clamping: max(1, limits.messageRate)))
        let burst = Int(UInt32(clamping: max(1, limits.messageBurst)))
        let stall = rate * Int(ShardSettings.longestStall / .seconds(1))
        earned = TokenBucket(rate: rate, burst: burst + stall, lacking: stall, now: now)
        pace = TokenBucket(rate: rate * 2, burst: burst, now: now)
        aPause = UInt32(clamping: max(2, rate))
    }

    /// Charges one message.
    ///
    /// - Parameter cost: the number of messages it counts as.
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
        // Messages are processed in groups: one timer for each would cost more than the message.
        let next = max(earned.nextToken, pace.nextToken, now + ShardSettings.slowedPause)
        return .wait(until: next, isFirst: !isSlowed)
    }
}
