// A timer that follows a value's deadline, wherever it moves.

import NIOCore

/// Calls back once the deadline last set has come. Used on its loop only.
final class Alarm {
    private let loop: any EventLoop
    private let clock: SteadyClock
    private let ring: () -> Void
    private var deadline: ContinuousClock.Instant?
    private var scheduled: (at: ContinuousClock.Instant, task: Scheduled<Void>)?

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
        if let scheduled, scheduled.at <= deadline { return }
        schedule(at: deadline)
    }

    private func schedule(at deadline: ContinuousClock.Instant) {
        scheduled?.task.cancel()
        let delay = max(.zero, clock.now.duration(to: deadline))
        let task = loop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] () -> Void in
            self?.fired()
        }
        scheduled = (deadline, task)
        clock.willRing(at: deadline)
    }

    private func fired() {
        scheduled = nil
        guard let deadline else { return }
        if clock.now < deadline { return schedule(at: deadline) }
        self.deadline = nil
        ring()
    }
}
