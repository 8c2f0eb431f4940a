// One device's typing in one conversation, from its client's signals to what goes on to Redis.

public import RollcallModel

/// Throttles a device's typing signals and ends the typing when they cease.
///
/// At most one start or renewal goes on per throttle; what comes sooner is deferred, not lost. A signal that has waited
/// for its turn ends sooner, and so its renewal may come sooner, four per throttle at most. A stop goes at once,
/// cancels what is deferred, and is not sent for a start that never went on.
public struct TypingSender: Hashable, Sendable {
    public enum Decision: Hashable, Sendable {
        /// Goes on to Redis now, with this expiry.
        case signal(expiry: Timestamp)
        /// Ends what was signalled until this expiry.
        case stop(expiry: Timestamp)
    }

    private let expiry: Duration
    private let throttle: Duration
    /// Before then, a signal is deferred; `nil` when none was sent.
    private var nextSend: Instant?
    /// The expiry of the signal that stands in Redis; `nil` when none does.
    private var standing: Timestamp?
    /// The expiry of a signal that waits for the throttle.
    private var deferred: Timestamp?
    /// When the typing ends unless a further signal comes.
    private var end: Instant?

    public init(expiry: Duration, throttle: Duration) {
        self.expiry = expiry
        self.throttle = throttle
    }

    public var isTyping: Bool { standing != nil || deferred != nil }

    /// The client says that the person types.
    ///
    /// - Returns: what goes on now; `nil` if the signal is deferred.
    public mutating func signalled(at now: Instant, time: Timestamp) -> Decision? {
        let expiry = time.advanced(by: self.expiry)
        end = now + self.expiry
        guard let nextSend, now < nextSend else { return send(expiry, at: now) }
        deferred = expiry
        return nil
    }

    /// The client says that the person has stopped, or left, or is gone.
    public mutating func stopped() -> Decision? {
        deferred = nil
        end = nil
        defer { standing = nil }
        return standing.map { .stop(expiry: $0) }
    }

    /// Redis did not take the typing: the user is no member.
    public mutating func refused() {
        standing = nil
        deferred = nil
        end = nil
    }

    /// Whether a signal would go on at once.
    func isRested(at now: Instant) -> Bool { nextSend.map { $0 <= now } ?? true }

    /// When ``due(at:)`` next has something to say.
    public var nextDue: Instant? {
        let send = deferred == nil ? nil : nextSend
        guard let send, let end else { return send ?? end }
        return min(send, end)
    }

    /// Time has passed: the end is due, or a deferred signal.
    public mutating func due(at now: Instant) -> Decision? {
        if let end, now >= end { return stopped() }
        if let deferred, let nextSend, now >= nextSend { return send(deferred, at: now) }
        return nil
    }

    private mutating func send(_ expiry: Timestamp, at now: Instant) -> Decision {
        let left = end.map { $0 - now } ?? self.expiry
        nextSend = now + min(throttle, max(left / 2, throttle / 4))
        // Redis's clock may have been set back, and then keeps an end that is not much later: a stop has to end that one.
        let kept = standing.map { $0 <= expiry.advanced(by: self.expiry * 2) ? max($0, expiry) : expiry }
        standing = kept ?? expiry
        deferred = nil
        return .signal(expiry: expiry)
    }
}
