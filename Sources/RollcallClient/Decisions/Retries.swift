// When to send again what a worker refused for now (`retry: true`). All kinds of messages share one schedule: the
// reasons (Redis is away, the session exceeds a limit) apply to the whole session, and what waits is sent in few
// messages.

/// The pauses before refused messages are sent again: exponential with full jitter, up to 250 ms at first and 15 s
/// later.
struct Retries {
    private static var fresh: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(15)) }

    private var backoff = Self.fresh
    /// The types of messages that were refused since the last success.
    private var refused: Set<Agenda.Subject.Kind> = []
    /// The last message that was sent before the current attempt.
    private var before: Int64 = 0
    /// When to send the refused messages again; `nil` if none wait.
    private(set) var deadline: ContinuousClock.Instant?

    /// Handles a refusal. All refusals before the next attempt count as one failure.
    mutating func refused(
        _ kind: Agenda.Subject.Kind, at now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator
    ) {
        refused.insert(kind)
        if deadline == nil { deadline = now + backoff.failed(using: &random) }
    }

    /// Handles that the worker accepted a message. This ends the pauses only if the message was sent in the current
    /// attempt and is of a type that was refused. Other successes prove nothing: a worker accepts messages that cost it
    /// nothing even while it refuses others.
    mutating func succeeded(_ kind: Agenda.Subject.Kind, message: Int64) {
        guard deadline == nil, message > before, refused.contains(kind) else { return }
        backoff = Self.fresh
        refused = []
    }

    /// Starts an attempt, whose messages come after this one.
    mutating func begin(after message: Int64) {
        deadline = nil
        before = message
    }
}
