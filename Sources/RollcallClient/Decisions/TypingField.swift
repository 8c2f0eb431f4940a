// When a person counts as typing, from the edits of one input field. The rules T1 to T5 stand here and nowhere else;
// what carries the signals to the worker, and whether there is a connection, is not this value's business.

/// One input field, and whether its person is typing.
struct TypingField {
    /// What the worker should hear now.
    enum Signal: Equatable {
        case typing
        case stopped
    }

    private enum Phase {
        /// Nothing but white space in it, or sent, or out of view.
        case empty
        /// It holds text, but not for long enough yet.
        case filling(since: ContinuousClock.Instant, edited: ContinuousClock.Instant)
        case typing(signalled: ContinuousClock.Instant, edited: ContinuousClock.Instant)
        /// It still holds text, which nobody has touched for `inactivity`.
        case paused
    }

    let settings: TypingSettings
    /// How often to renew; shorter than the settings' where the worker's `typing.expiry` asks for it.
    private(set) var throttle: Duration
    private var phase = Phase.empty

    init(settings: TypingSettings) {
        self.settings = settings
        throttle = settings.throttle
    }

    var isTyping: Bool {
        if case .typing = phase { true } else { false }
    }

    /// When to call ``deadlinePassed(at:)``.
    var deadline: ContinuousClock.Instant? {
        switch phase {
        case .empty, .paused: nil
        case .filling(let since, _): since + settings.debounce
        case .typing(let signalled, let edited): min(signalled + throttle, edited + settings.inactivity)
        }
    }

    /// - Parameter filled: whether the field holds anything but white space.
    mutating func edited(filled: Bool, at now: ContinuousClock.Instant) -> Signal? {
        guard filled else { return ended() }
        switch phase {
        case .empty:
            if settings.debounce == .zero { return begin(at: now, edited: now) }
            phase = .filling(since: now, edited: now)
            return nil
        case .filling(let since, _):
            phase = .filling(since: since, edited: now)
            return deadlinePassed(at: now)
        case .typing(let signalled, _):
            phase = .typing(signalled: signalled, edited: now)
            return deadlinePassed(at: now)
        case .paused:
            return begin(at: now, edited: now)
        }
    }

    /// The text was sent or deleted, the field left the view or the app the foreground.
    mutating func ended() -> Signal? {
        defer { phase = .empty }
        return isTyping ? .stopped : nil
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) -> Signal? {
        guard let deadline, now >= deadline else { return nil }
        switch phase {
        case .empty, .paused:
            return nil
        case .filling(_, let edited):
            return begin(at: now, edited: edited)
        case .typing(_, let edited):
            if now >= edited + settings.inactivity {
                phase = .paused
                return .stopped
            }
            return begin(at: now, edited: edited)
        }
    }

    /// A new connection: its worker has heard nothing of this field yet.
    mutating func connected(at now: ContinuousClock.Instant) -> Signal? {
        guard case .typing(_, let edited) = phase else { return nil }
        return begin(at: now, edited: edited)
    }

    /// The worker ends typing after `expiry` without a signal; one renewal must fit in with a second to spare.
    mutating func expiryLearnt(_ expiry: Duration) {
        throttle = min(settings.throttle, max(.milliseconds(100), expiry - .seconds(1)))
    }

    private mutating func begin(at now: ContinuousClock.Instant, edited: ContinuousClock.Instant) -> Signal {
        phase = .typing(signalled: now, edited: edited)
        return .typing
    }
}
