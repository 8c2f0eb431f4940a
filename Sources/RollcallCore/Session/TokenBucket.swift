// How many messages a session may send: so many a second in the long run, so many at once.

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
        tokens = min(burst, tokens + rate * Double(now.nanoseconds - filled.nanoseconds) / 1e9)
        filled = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
