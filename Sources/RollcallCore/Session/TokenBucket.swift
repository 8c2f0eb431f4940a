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
