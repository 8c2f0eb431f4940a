// What a client runs on: a clock, random numbers, and one queue for all of its work. Tests and simulations have their own.

/// The random numbers that keep clients from acting at the same moment.
package struct Jitter: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    package init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    package func next() -> UInt64 { draw() }
}

/// The clock, the random numbers and the queue of one client.
package struct Environment: Sendable {
    package typealias Work = @Sendable () -> Void

    /// Reads a monotonic clock that continues while the machine sleeps. May be called on any thread.
    let now: @Sendable () -> ContinuousClock.Instant
    let jitter: Jitter
    /// Runs work on the client's queue, soon and never at once. May be called on any thread; calls from one thread run in
    /// order.
    let run: @Sendable (@escaping Work) -> Void
    /// Runs work on the client's queue at this moment, or somewhat later, and returns a function that cancels it. Called
    /// on the queue only. If the machine sleeps meanwhile, the work may be late by as much.
    let at: @Sendable (ContinuousClock.Instant, @escaping Work) -> () -> Void

    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant, random: @escaping @Sendable () -> UInt64,
        run: @escaping @Sendable (@escaping Work) -> Void,
        at: @escaping @Sendable (ContinuousClock.Instant, @escaping Work) -> () -> Void
    ) {
        (self.now, jitter, self.run, self.at) = (now, Jitter(random), run, at)
    }
}
