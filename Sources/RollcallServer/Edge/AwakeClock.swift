// The time that an event loop was awake. While a process is stopped or a loop is blocked, it cannot read from its
// peers, and that time must not count against them.

import NIOCore

/// Measures how long a loop has been awake, by its checks.
struct AwakeClock {
    /// The intended interval between checks.
    let interval: TimeAmount
    /// Time awake since the clock was created.
    private(set) var awake = Duration.zero
    private var last: NIODeadline
    private var hasJustWoken = false

    init(interval: TimeAmount, at now: NIODeadline) {
        self.interval = interval
        last = now
    }

    /// Adds the time since the last check, but at most one interval, so that sleep does not count.
    ///
    /// - Returns: Whether deadlines may be checked now. After a sleep they wait for the next check, so that the loop
    ///   reads first. A loop that is always late checks them at every second one.
    mutating func checked(at now: NIODeadline) -> Bool {
        let elapsed = max(.zero, now - last)
        last = now
        let slept = elapsed > .nanoseconds(interval.nanoseconds * 2) + .milliseconds(50)
        awake += .nanoseconds(slept ? interval.nanoseconds : elapsed.nanoseconds)
        hasJustWoken = slept && !hasJustWoken
        return !hasJustWoken
    }
}
