// When to send again what a worker refused for now (`retry: true`). One schedule for all kinds of messages: the reasons
// (Redis is away, the session asked for too much) concern the session as a whole, and what waits goes out in few messages.

/// The pauses between attempts at what was refused: exponential with full jitter, from 250 ms to 15 s.
struct Retries {
    private static var fresh: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(15)) }

    private var backoff = Self.fresh
    /// When to send again what was refused; `nil` when nothing waits.
    private(set) var deadline: ContinuousClock.Instant?

    /// Refusals that come before the next attempt count as one.
    mutating func refused(at now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator) {
        if deadline == nil { deadline = now + backoff.failed(using: &random) }
    }

    /// The worker took a message. While something waits, that says nothing about what waits.
    mutating func succeeded() {
        if deadline == nil { backoff = Self.fresh }
    }

    /// The attempt begins.
    mutating func begin() {
        deadline = nil
    }
}
