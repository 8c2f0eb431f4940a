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

    /// Returns the time until this moment, zero if it has passed. The longest is a year: an app may set longer durations
    /// than `TimeAmount` and `Duration.components` can express, and a timer that fires early is set again.
    func wait(until instant: ContinuousClock.Instant) -> Duration {
        min(max(.zero, now.duration(to: instant)), .seconds(365 * 86_400))
    }

    /// Reports that a timer is set for this moment.
    func willRing(at instant: ContinuousClock.Instant) { note?(instant) }
}
