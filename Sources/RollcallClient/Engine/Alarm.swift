// A timer that follows a deadline, even if the deadline changes.

package import NIOCore

/// Calls back when the deadline that was last set has passed. Used on its loop only.
final class Alarm {
    /// The two clocks are not read at exactly the same moment.
    private static let tolerance = Duration.milliseconds(1)

    private let loop: any EventLoop
    private let clock: SteadyClock
    private let ring: () -> Void
    private var deadline: ContinuousClock.Instant?
    /// The timer, and when it fires by the loop's clock, which stops while the machine sleeps.
    private var scheduled: (at: NIODeadline, task: Scheduled<Void>)?

    init(on loop: any EventLoop, by clock: SteadyClock, _ ring: @escaping () -> Void) {
        self.loop = loop
        self.clock = clock
        self.ring = ring
    }

    deinit {
        scheduled?.task.cancel()
    }

    /// Sets the deadline; `nil` cancels the timer. Moving it later, the usual case, costs nothing: the timer fires at
    /// the earlier deadline and is then set again.
    func set(_ deadline: ContinuousClock.Instant?) {
        self.deadline = deadline
        guard let deadline else {
            scheduled?.task.cancel()
            scheduled = nil
            return
        }
        if let scheduled, clock.now + Duration(scheduled.at - loop.now) <= deadline + Self.tolerance { return }
        schedule(at: deadline)
    }

    private func schedule(at deadline: ContinuousClock.Instant) {
        scheduled?.task.cancel()
        let wait = clock.wait(until: deadline)
        let task = loop.schedule(at: deadline, by: clock) { [weak self] in self?.fired() }
        scheduled = (loop.now + TimeAmount(wait), task)
    }

    private func fired() {
        scheduled = nil
        guard let deadline else { return }
        if clock.now < deadline { return schedule(at: deadline) }
        self.deadline = nil
        ring()
    }
}

extension TimeAmount {
    /// Whole nanoseconds, rounded up: a timer that fires too early must be set again.
    fileprivate init(roundingUp duration: Duration) {
        self.init(duration + Duration(secondsComponent: 0, attosecondsComponent: 999_999_999))
    }
}

extension EventLoop {
    /// Calls back once, at this moment. Call it on the loop only.
    package func schedule(
        at instant: ContinuousClock.Instant, by clock: SteadyClock, _ ring: @escaping () -> Void
    ) -> Scheduled<Void> {
        clock.willRing(at: instant)
        let delay = TimeAmount(roundingUp: clock.wait(until: instant))
        return assumeIsolated().scheduleTask(in: delay) { () -> Void in ring() }
    }
}
