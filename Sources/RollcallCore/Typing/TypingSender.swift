// One device's typing in one conversation: from its client's signals to what is sent to Redis.

public import RollcallProtocol

/// Throttles a device's typing signals, and ends the typing when they cease.
///
/// At most one start or renewal is sent per throttle; earlier ones are deferred, not lost. A deferred signal leaves
/// less time until its expiry, so its renewal may follow sooner: at most four per throttle. A stop is sent at once and
/// cancels a deferred signal. No stop is sent for a start that was never sent.
public struct TypingSender: Hashable, Sendable {
    public enum Decision: Hashable, Sendable {
        /// Send to Redis now, with this expiry.
        case signal(expiry: Timestamp, TypingKind = .typing)
        /// End the typing that was signalled until this expiry.
        case stop(expiry: Timestamp)
    }

    private let expiry: Duration
    private let throttle: Duration
    /// Signals before this moment are deferred; `nil` if none was sent.
    private var nextSend: Instant?
    /// The expiry of the signal that Redis holds; `nil` if none.
    private var sent: Timestamp?
    /// The expiry of the deferred signal.
    private var deferred: Timestamp?
    /// When the typing ends unless another signal arrives.
    private var end: Instant?
    /// Of the last signal.
    private var kind = TypingKind.typing

    public init(expiry: Duration, throttle: Duration) {
        self.expiry = expiry
        self.throttle = throttle
    }

    public var isTyping: Bool { sent != nil || deferred != nil }

    /// Whether a signal was sent to Redis that no stop has followed.
    var isSignalled: Bool { sent != nil }

    /// Handles a typing signal from the client.
    ///
    /// - Returns: what to send now; `nil` if the signal is deferred.
    public mutating func signalled(_ kind: TypingKind = .typing, at now: Instant, time: Timestamp) -> Decision? {
        self.kind = kind
        let expiry = time.advanced(by: self.expiry)
        end = now + self.expiry
        guard let nextSend, now < nextSend else { return send(expiry, at: now) }
        deferred = expiry
        return nil
    }

    /// Handles that the user stopped typing, left the conversation or disconnected.
    public mutating func stopped() -> Decision? {
        deferred = nil
        end = nil
        defer { sent = nil }
        return sent.map { .stop(expiry: $0) }
    }

    /// Handles that the user's typing does not count, because the user is not a member or has left. The throttle stays.
    public mutating func ended() {
        sent = nil
        deferred = nil
        end = nil
    }

    /// Whether a signal would be sent at once.
    func isRested(at now: Instant) -> Bool { nextSend.map { $0 <= now } ?? true }

    /// When ``due(at:)`` next has something to do.
    public var nextDue: Instant? {
        let send = deferred == nil ? nil : nextSend
        guard let send, let end else { return send ?? end }
        return min(send, end)
    }

    /// Handles elapsed time: the typing ends, or a deferred signal is sent.
    public mutating func due(at now: Instant) -> Decision? {
        if let end, now >= end { return stopped() }
        if let deferred, let nextSend, now >= nextSend { return send(deferred, at: now) }
        return nil
    }

    private mutating func send(_ expiry: Timestamp, at now: Instant) -> Decision {
        let left = end.map { $0 - now } ?? self.expiry
        nextSend = now + min(throttle, max(left / 2, throttle / 4))
        // Redis keeps a stored expiry that is later than this one: the estimate of its time may have been corrected, or
        // its clock set back. A stop has to end that one.
        sent = max(sent ?? expiry, expiry)
        deferred = nil
        return .signal(expiry: expiry, kind)
    }
}
