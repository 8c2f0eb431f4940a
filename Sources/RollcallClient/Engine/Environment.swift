// What a client runs on: an event loop, a clock, timers and random numbers. Tests and simulations have their own.

import NIOConcurrencyHelpers
package import NIOCore

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

/// The random numbers that keep clients from acting at the same moment. A simulation draws them from its seed.
package struct Jitter: RandomNumberGenerator, Sendable {
    /// The system's random numbers.
    package static let system = Jitter { UInt64.random(in: .min ... .max) }

    private let draw: @Sendable () -> UInt64

    package init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    package func next() -> UInt64 { draw() }
}

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

/// The engine, and the only loop on which it may be used.
struct EngineHandle: Sendable {
    let loop: any EventLoop
    let shared = NIOLockedValueBox(Engine.Shared())
    private let box: NIOLoopBoundBox<Engine?>

    let clock: SteadyClock

    init(
        on loop: any EventLoop, by clock: SteadyClock, jitter: Jitter, options: ClientOptions,
        connection: @escaping @Sendable (Engine) -> Connection
    ) {
        self.loop = loop
        self.clock = clock
        box = NIOLoopBoundBox.makeEmptyBox(valueType: Engine.self, eventLoop: loop)
        loop.execute { [box, shared] in
            box.value = Engine(
                options: options, shared: shared, on: loop, by: clock, jitter: jitter, connection: connection)
        }
    }

    /// Reads from the engine directly. Call it on the loop only.
    func read<Value>(_ body: (Engine) -> Value) -> Value? { box.value.map(body) }

    /// Runs `body` on the engine's loop. Calls from one thread run in order.
    func run(_ body: @escaping @Sendable (Engine) -> Void) {
        loop.execute { [box] in
            if let engine = box.value { body(engine) }
        }
    }
}
