// How many messages a session may send, and how many people a user may ask about: so many a second in the long run, so
// many at once.

/// A token bucket, kept as the moment at which it is full again: it fills while nobody looks.
struct TokenBucket: Hashable, Sendable {
    /// Tokens a second.
    private let rate: UInt32
    private let burst: UInt32
    private var full: Instant

    /// - Parameters:
    ///   - rate: at least one.
    ///   - lacking: how many of the `burst` are not there yet.
    init(rate: Int, burst: Int, lacking: Int = 0, now: Instant) {
        self.rate = UInt32(clamping: max(1, rate))
        self.burst = UInt32(clamping: burst)
        full = now
        if lacking > 0 { take(Int64(UInt32(clamping: lacking)), at: now) }
    }

    /// Takes so many tokens, even if there are fewer. The bucket then owes the rest, and it takes the longer until it has
    /// any.
    mutating func charge(_ count: Int, at now: Instant) { take(Int64(count), at: now) }

    /// Whether there are so many tokens.
    func has(_ count: Int64, at now: Instant) -> Bool { lacking(at: now) + count * pause <= Int64(burst) * pause }

    /// Whether there is any part of a token. A request may then be charged whole, however large it is.
    func hasCredit(at now: Instant) -> Bool { lacking(at: now) < Int64(burst) * pause }

    func isFull(at now: Instant) -> Bool { lacking(at: now) == 0 }

    /// When there is a whole token, unless more are taken before.
    var nextToken: Instant { Instant(nanoseconds: full.nanoseconds - (Int64(burst) - 1) * pause) }

    /// When ``hasCredit(at:)`` is true again, unless more are taken before.
    var nextCredit: Instant { Instant(nanoseconds: full.nanoseconds - Int64(burst) * pause + 1) }

    /// The nanoseconds in which one token comes.
    private var pause: Int64 { 1_000_000_000 / Int64(rate) }

    /// The nanoseconds until it is full.
    private func lacking(at now: Instant) -> Int64 { max(0, full.nanoseconds - now.nanoseconds) }

    private mutating func take(_ count: Int64, at now: Instant) {
        full = Instant(nanoseconds: max(full.nanoseconds, now.nanoseconds) + count * pause)
    }
}
