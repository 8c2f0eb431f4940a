// When to ask again for a conversation of which the user is not a member. An app may open a conversation before its
// backend has set the members, and a removed user may be added again. No worker reports either to a session that has not
// joined, so the client asks again: rarely, because most users who are refused will never be members.

/// The pauses before refused conversations are joined again. Each conversation has its own: random, at least 2 s and at
/// most 6, 10, 18, 34 and then 60 s.
struct Rejoins {
    private static let shortest = Duration.seconds(2)

    private struct Pause {
        var backoff = Backoff(first: .seconds(4), longest: .seconds(58))
        /// When to ask again; `nil` while an answer is awaited.
        var end: ContinuousClock.Instant?
    }

    private var pauses: [ConversationID: Pause] = [:]

    /// When to call ``takeDue(at:)``; `nil` if no conversation waits.
    var deadline: ContinuousClock.Instant? { pauses.values.compactMap(\.end).min() }

    /// Handles a refusal, or the user's removal. Refusals during a pause do not change it.
    mutating func refused(
        _ conversation: ConversationID, at now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator
    ) {
        var pause = pauses[conversation] ?? Pause()
        if pause.end == nil { pause.end = now + Self.shortest + pause.backoff.failed(using: &random) }
        pauses[conversation] = pause
    }

    /// Handles that the worker accepted a join. After a newer refusal or removal, this means nothing.
    mutating func accepted(_ conversation: ConversationID) {
        if pauses[conversation]?.end == nil { pauses[conversation] = nil }
    }

    /// Forgets the conversation, because it is given up or asked for anew.
    mutating func forget(_ conversation: ConversationID) {
        pauses[conversation] = nil
    }

    /// Returns the conversations whose pauses have ended. An answer is awaited for each from now on.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [ConversationID] {
        let due = pauses.filter { $0.value.end.map { $0 <= now } ?? false }.keys.sorted()
        for conversation in due { pauses[conversation]?.end = nil }
        return due
    }
}
