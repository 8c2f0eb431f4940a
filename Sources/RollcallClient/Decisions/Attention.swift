// What this device says of itself, from the app's phase and the person's input (P3, P4).

/// Whether the person attends to this device.
struct Attention {
    private let idleAfter: Duration?
    private var inBackground = false
    /// Set outright by the app, until it is active or input happens.
    private var isIdle = false
    /// The last input; `nil` until the app reports any, since an app that reports none says nothing by silence.
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

    /// An edit is input too, for an app that reports input; for another it must not start the count.
    mutating func edited(at now: ContinuousClock.Instant) {
        if lastInput != nil { inputHappened(at: now) }
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        guard let deadline, now >= deadline else { return }
        isIdle = true
    }
}
