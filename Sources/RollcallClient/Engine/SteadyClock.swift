// What a client takes for now, so that a test's client can live by a time that the test moves.

/// The steady time by which one client acts.
package struct SteadyClock: Sendable {
    /// This machine's, which goes on while the machine sleeps.
    package static let system = SteadyClock { ContinuousClock.now }

    private let read: @Sendable () -> ContinuousClock.Instant
    private let note: (@Sendable (ContinuousClock.Instant) -> Void)?

    /// - Parameter note: told of each moment at which a timer may go off. Whoever moves the time stops there, so that an
    ///   app's own tasks see that moment, too, and not a later one.
    package init(
        _ read: @escaping @Sendable () -> ContinuousClock.Instant,
        note: (@Sendable (ContinuousClock.Instant) -> Void)? = nil
    ) {
        self.read = read
        self.note = note
    }

    package var now: ContinuousClock.Instant { read() }

    /// A timer is set.
    func willRing(at instant: ContinuousClock.Instant) { note?(instant) }
}
