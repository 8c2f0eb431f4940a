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

    /// Takes one token.
    ///
    /// - Returns: whether there was one.
    mutating func take(at now: Instant) -> Bool {
        let isThere = has(1, at: now)
        if isThere { take(1, at: now) }
        return isThere
    }

    /// Takes as many as are asked for, be it more than there are: so a request is taken whole or not at all, however
    /// large, and who has taken more than there was waits the longer.
    ///
    /// - Returns: whether there was any; nothing is taken otherwise.
    mutating func takeOnCredit(_ count: Int, at now: Instant) -> Bool {
        let isThere = hasCredit(at: now)
        if isThere { take(Int64(count), at: now) }
        return isThere
    }

    /// Takes as many as are asked for, whatever there is: for work that has been done already.
    mutating func charge(_ count: Int, at now: Instant) { take(Int64(count), at: now) }

    /// Whether there are so many tokens.
    func has(_ count: Int64, at now: Instant) -> Bool { lacking(at: now) + count * pause <= Int64(burst) * pause }

    /// Whether ``takeOnCredit(_:at:)`` would take anything.
    func hasCredit(at now: Instant) -> Bool { lacking(at: now) < Int64(burst) * pause }

    func isFull(at now: Instant) -> Bool { lacking(at: now) == 0 }

    /// When there is a whole token, unless more are taken before.
    var nextToken: Instant { Instant(nanoseconds: full.nanoseconds - (Int64(burst) - 1) * pause) }

    /// When ``takeOnCredit(_:at:)`` takes something again, unless more are taken before.
    var nextCredit: Instant { Instant(nanoseconds: full.nanoseconds - Int64(burst) * pause + 1) }

    /// The nanoseconds in which one token comes.
    private var pause: Int64 { 1_000_000_000 / Int64(rate) }

    /// The nanoseconds until it is full.
    private func lacking(at now: Instant) -> Int64 { max(0, full.nanoseconds - now.nanoseconds) }

    private mutating func take(_ count: Int64, at now: Instant) {
        full = Instant(nanoseconds: max(full.nanoseconds, now.nanoseconds) + count * pause)
    }
}
