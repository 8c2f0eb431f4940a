// The message rate of a well-behaved client: never more than its worker allows, as far as the client can know.

internal import RollcallCore
internal import RollcallProtocol

/// The message budget of one connection.
struct Pace {
    private let limits: ServerMessage.Limits
    private let pause: Duration
    private let burst: Int
    private var full: Instant

    /// Uses a burst of two messages less than allowed: one is for a `goodbye`, which never waits, and one for messages
    /// that the network delivers closer together than they were sent.
    init(_ limits: ServerMessage.Limits, at now: Instant) {
        self.limits = limits
        pause = .seconds(1) / limits.messageRate
        burst = max(1, limits.messageBurst - 2)
        full = now
    }

    /// Uses the whole allowance.
    init(upTo limits: ServerMessage.Limits, at now: Instant) {
        self.limits = limits
        pause = .seconds(1) / limits.messageRate
        burst = limits.messageBurst
        full = now
    }

    /// Counts one message.
    ///
    /// - Returns: when it may be sent.
    mutating func next(_ message: ClientMessage, at now: Instant) -> Instant {
        full = max(full, now) + pause * message.cost(limits)
        return max(now, full - pause * burst)
    }

    /// Counts what a join with presence cost too much.
    mutating func refund(showing members: Int) {
        full = full + pause * -ClientMessage.refund(showing: members, limits)
    }
}

extension ClientMessage {
    var isToken: Bool { if case .token = self { true } else { false } }
}
