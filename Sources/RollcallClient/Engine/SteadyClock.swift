// The clock of a client. In tests, the test moves it.

/// A monotonic clock.
package struct SteadyClock: Sendable {
    /// The system's clock, which continues while the machine sleeps.
    package static let system = SteadyClock { ContinuousClock.now }

    private let read: @Sendable () -> ContinuousClock.Instant
    private let note: (@Sendable (ContinuousClock.Instant) -> Void)?

    /// - Parameter note: called with each moment for which a timer is set. A test that moves the time stops there, so
    ///   that the app's tasks see this moment and not a later one.
    package init(
        _ read: @escaping @Sendable () -> ContinuousClock.Instant,
        note: (@Sendable (ContinuousClock.Instant) -> Void)? = nil
    ) {
        self.read = read
        self.note = note
    }

    package var now: ContinuousClock.Instant { read() }

    /// Reports that a timer is set for this moment.
    func willRing(at instant: ContinuousClock.Instant) { note?(instant) }
}
