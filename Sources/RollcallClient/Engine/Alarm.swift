// A timer that follows a value's deadline, wherever it moves.

package import NIOCore

/// Calls back once the deadline last set has come. Used on its loop only.
final class Alarm {
    /// The two clocks are not read in the same moment.
    private static let tolerance = Duration.milliseconds(1)

    private let loop: any EventLoop
    private let clock: SteadyClock
    private let ring: () -> Void
    private var deadline: ContinuousClock.Instant?
    /// When the timer goes off by the loop's own time, which stands still while the machine sleeps.
    private var scheduled: (at: NIODeadline, task: Scheduled<Void>)?

    init(on loop: any EventLoop, by clock: SteadyClock, _ ring: @escaping () -> Void) {
        self.loop = loop
        self.clock = clock
        self.ring = ring
    }

    deinit {
        scheduled?.task.cancel()
    }

    /// `nil` silences it. A deadline that moved later, as most do, costs nothing until the earlier one has come.
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
        let wait = max(.zero, clock.now.duration(to: deadline))
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
    /// Whole nanoseconds, rounded up: a timer that goes off before its moment has to be set again.
    fileprivate init(roundingUp duration: Duration) {
        self.init(duration + Duration(secondsComponent: 0, attosecondsComponent: 999_999_999))
    }
}

extension EventLoop {
    /// Calls back once, at that moment; on the loop itself only.
    package func schedule(
        at instant: ContinuousClock.Instant, by clock: SteadyClock, _ ring: @escaping () -> Void
    ) -> Scheduled<Void> {
        clock.willRing(at: instant)
        let delay = max(.zero, clock.now.duration(to: instant))
        return assumeIsolated().scheduleTask(in: TimeAmount(roundingUp: delay)) { () -> Void in ring() }
    }
}
