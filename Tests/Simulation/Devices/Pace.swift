// How fast an honest client speaks: never faster than its worker allows, as far as the client can know.

internal import RollcallCore
internal import RollcallModel

/// The messages that one connection may still send.
struct Pace {
    private let pause: Duration
    private let burst: Int
    private var full: Instant

    /// Two messages less than allowed at once: one for a goodbye, which waits for nothing, and one for what the network
    /// brings closer together.
    init(_ limits: ServerMessage.Limits, at now: Instant) {
        pause = .seconds(1) / limits.messageRate
        burst = max(1, limits.messageBurst - 2)
        full = now
    }

    /// All that is allowed.
    init(upTo limits: ServerMessage.Limits, at now: Instant) {
        pause = .seconds(1) / limits.messageRate
        burst = limits.messageBurst
        full = now
    }

    /// Counts one message; a token weighs as much as several.
    ///
    /// - Returns: when it may be sent.
    mutating func next(_ message: ClientMessage, at now: Instant) -> Instant {
        next(weighing: message.isToken ? 10 : 1, at: now)
    }

    /// - Returns: when as much may be sent.
    mutating func next(weighing messages: Int = 1, at now: Instant) -> Instant {
        full = max(full, now) + pause * messages
        return max(now, full - pause * burst)
    }
}

extension ClientMessage {
    var isToken: Bool { if case .token = self { true } else { false } }
}
