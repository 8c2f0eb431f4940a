// What a client takes for now, so that a test's client can live by a time that the test moves.

/// The steady time by which one client acts.
package struct SteadyClock: Sendable {
    /// This machine's, which goes on while the machine sleeps.
    package static let system = SteadyClock { ContinuousClock.now }

    private let read: @Sendable () -> ContinuousClock.Instant

    package init(_ read: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.read = read
    }

    package var now: ContinuousClock.Instant { read() }
}
