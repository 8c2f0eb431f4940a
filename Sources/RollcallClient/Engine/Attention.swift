// Derives the device's state from the app's phase and the user's input.

/// Whether the user is using this device.
struct Attention {
    private let idleAfter: Duration?
    private var inBackground = false
    /// Set directly by the app or after `idleAfter`; reset by input or by the active phase.
    private var isIdle = false
    /// The last reported input; `nil` if the app has not reported any. For an app that reports none, silence means
    /// nothing.
    private var lastInput: ContinuousClock.Instant?

    init(idleAfter: Duration?) {
        self.idleAfter = idleAfter
    }

    var state: DeviceState {
        if inBackground { return .background }
        return isIdle ? .idle : .active
    }

    /// When to call ``deadlinePassed(at:)``.
    var deadline: ContinuousClock.Instant? {
        guard state == .active, let idleAfter, let lastInput else { return nil }
        return lastInput + idleAfter
    }

    mutating func phaseChanged(to phase: AppPhase, at now: ContinuousClock.Instant) {
        switch phase {
        case .active:
            inBackground = false
            isIdle = false
            if lastInput != nil { lastInput = now }
        case .inactive:
            break
        case .background:
            inBackground = true
        }
    }

    mutating func stateSet(_ state: DeviceState, at now: ContinuousClock.Instant) {
        inBackground = state == .background
        isIdle = state == .idle
        if lastInput != nil { lastInput = now }
    }

    mutating func inputHappened(at now: ContinuousClock.Instant) {
        lastInput = now
        isIdle = false
    }

    /// Counts an edit as input, if the app reports input. For other apps it must not start the idle timer.
    mutating func edited(at now: ContinuousClock.Instant) {
        if lastInput != nil { inputHappened(at: now) }
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        guard let deadline, now >= deadline else { return }
        isIdle = true
    }
}

/// The app's phase, as reported by the platform.
public enum AppPhase: Hashable, Sendable, CaseIterable {
    /// In the foreground.
    case active
    /// Briefly interrupted, for example by the app switcher. Changes nothing.
    case inactive
    /// Not visible. Typing ends at once, and the device no longer counts for presence.
    case background
}
