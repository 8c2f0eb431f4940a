// Rate limits with a burst: for the messages of a session, for the user lookups of a user, and for changes of presence.

/// A token bucket, stored as the moment at which it is full again. It refills without a timer.
struct TokenBucket: Hashable, Sendable {
    /// Tokens per second.
    private let rate: UInt32
    private let burst: UInt32
    private var full: Instant

    /// - Parameters:
    ///   - rate: tokens per second, at least 1.
    ///   - lacking: how many tokens of the `burst` are missing at first.
    init(rate: Int, burst: Int, lacking: Int = 0, now: Instant) {
        self.rate = UInt32(clamping: max(1, rate))
        self.burst = UInt32(clamping: burst)
        full = now
        if lacking > 0 { take(Int64(UInt32(clamping: lacking)), at: now) }
    }

    /// Takes this many tokens, even if there are fewer. The balance then becomes negative, and takes longer to recover.
    mutating func charge(_ count: Int, at now: Instant) { take(Int64(count), at: now) }

    /// Whether there are this many tokens.
    func has(_ count: Int64, at now: Instant) -> Bool { lacking(at: now) + count * pause <= Int64(burst) * pause }

    /// Whether there is any fraction of a token. A request may then be charged in full, however large it is.
    func hasCredit(at now: Instant) -> Bool { isFull(at: now) || lacking(at: now) < Int64(burst) * pause }

    func isFull(at now: Instant) -> Bool { lacking(at: now) == 0 }

    /// When there is a whole token, unless more are taken before.
    var nextToken: Instant { Instant(nanoseconds: full.nanoseconds - (Int64(burst) - 1) * pause) }

    /// When ``hasCredit(at:)`` becomes true, unless more tokens are taken before.
    var nextCredit: Instant { Instant(nanoseconds: full.nanoseconds - Int64(burst) * pause + 1) }

    /// Nanoseconds per token.
    private var pause: Int64 { 1_000_000_000 / Int64(rate) }

    /// Nanoseconds until the bucket is full.
    private func lacking(at now: Instant) -> Int64 { max(0, full.nanoseconds - now.nanoseconds) }

    private mutating func take(_ count: Int64, at now: Instant) {
        full = Instant(nanoseconds: max(full.nanoseconds, now.nanoseconds) + count * pause)
    }
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
