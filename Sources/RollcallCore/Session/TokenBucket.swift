// How many messages a session may send, and how many people it may ask about: so many a second in the long run, so
// many at once.

/// A token bucket.
struct TokenBucket: Hashable, Sendable {
    private let rate: Double
    private let burst: Double
    private var tokens: Double
    private var filled: Instant

    init(rate: Int, burst: Int, now: Instant) {
        self.rate = Double(rate)
        self.burst = Double(burst)
        tokens = Double(burst)
        filled = now
    }

    /// Takes one token.
    ///
    /// - Returns: whether there was one.
    mutating func take(at now: Instant) -> Bool {
        fill(at: now)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// Takes as many as are asked for, be it more than there are: so a request is taken whole or not at all, however
    /// large, and who has taken more than there was waits the longer.
    ///
    /// - Returns: whether there was any; nothing is taken otherwise.
    mutating func takeOnCredit(_ count: Int, at now: Instant) -> Bool {
        fill(at: now)
        guard tokens > 0 else { return false }
        tokens -= Double(count)
        return true
    }

    private mutating func fill(at now: Instant) {
        tokens = min(burst, tokens + rate * Double(now.nanoseconds - filled.nanoseconds) / 1e9)
        filled = now
    }
}
