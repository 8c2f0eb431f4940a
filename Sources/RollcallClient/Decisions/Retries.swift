// When to send again what a worker refused for now (`retry: true`). One schedule for all kinds of messages: the reasons
// (Redis is away, the session asked for too much) concern the session as a whole, and what waits goes out in few messages.

/// The pauses between attempts at what was refused: exponential with full jitter, from 250 ms to 15 s.
struct Retries {
    private static var fresh: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(15)) }

    private var backoff = Self.fresh
    /// The kinds of messages that were refused since the last success.
    private var refused: Set<Agenda.Subject.Kind> = []
    /// The last message that was sent before the attempt that is under way.
    private var before: Int64 = 0
    /// When to send again what was refused; `nil` when nothing waits.
    private(set) var deadline: ContinuousClock.Instant?

    /// Refusals that come before the next attempt count as one.
    mutating func refused(
        _ kind: Agenda.Subject.Kind, at now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator
    ) {
        refused.insert(kind)
        if deadline == nil { deadline = now + backoff.failed(using: &random) }
    }

    /// The worker took a message. That says nothing of what waits, nor of what is under way again, unless the message was
    /// sent with that and is of a kind that was refused: a worker takes at once what costs it nothing.
    mutating func succeeded(_ kind: Agenda.Subject.Kind, message: Int64) {
        guard deadline == nil, message > before, refused.contains(kind) else { return }
        backoff = Self.fresh
        refused = []
    }

    /// The attempt begins, after this message.
    mutating func begin(after message: Int64) {
        deadline = nil
        before = message
    }
}
