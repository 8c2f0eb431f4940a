// Decides from the edits of one input field when its user counts as typing. Sending the signals, and whether there is a
// connection, are not its concern.

/// One input field, and whether its user is typing.
struct TypingField {
    /// What the worker should be sent now.
    enum Signal: Equatable {
        case typing
        case stopped
    }

    private enum Phase {
        /// The field contains only white space, or its text was sent, or it is not shown.
        case empty
        /// The field contains text, but not for long enough yet.
        case filling(since: ContinuousClock.Instant, edited: ContinuousClock.Instant)
        case typing(signalled: ContinuousClock.Instant, edited: ContinuousClock.Instant)
        /// The field still contains text, but was not edited for `inactivity`.
        case paused
    }

    let settings: TypingSettings
    /// How often to renew the signal. Shorter than in the settings if the worker's `typing.expiry` requires it.
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

    /// - Parameter filled: whether the field contains anything but white space.
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

    /// Handles that the text was sent or deleted, the field was hidden, or the app went to the background.
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

    /// Handles a new connection, whose worker knows nothing of this field yet.
    mutating func connected(at now: ContinuousClock.Instant) -> Signal? {
        guard case .typing(_, let edited) = phase else { return nil }
        return begin(at: now, edited: edited)
    }

    /// Learns after how long without a signal the worker ends typing. A renewal must arrive one second before that.
    mutating func expiryLearnt(_ expiry: Duration) {
        throttle = min(settings.throttle, max(.milliseconds(100), expiry - .seconds(1)))
    }

    private mutating func begin(at now: ContinuousClock.Instant, edited: ContinuousClock.Instant) -> Signal {
        phase = .typing(signalled: now, edited: edited)
        return .typing
    }
}
