// The time that an event loop was awake. While a process is stopped or a loop is blocked, it cannot read from its
// peers, and that time must not count against them.

import NIOCore

/// Measures how long a loop has been awake, in its beats.
struct AwakeClock {
    /// The intended interval between beats.
    let interval: TimeAmount
    /// Time awake since the clock was created.
    private(set) var awake = Duration.zero
    private var last: NIODeadline
    private var hasJustWoken = false

    init(interval: TimeAmount, at now: NIODeadline) {
        self.interval = interval
        last = now
    }

    /// Adds the time since the last beat, but at most one interval, so that sleep does not count.
    ///
    /// - Returns: Whether deadlines may be checked now. After a sleep they wait for the next beat, so that the loop
    ///   reads first. A loop that is always late checks at every second beat.
    mutating func beat(at now: NIODeadline) -> Bool {
        let elapsed = max(.zero, now - last)
        last = now
        let slept = elapsed > .nanoseconds(interval.nanoseconds * 2) + .milliseconds(50)
        awake += .nanoseconds(slept ? interval.nanoseconds : elapsed.nanoseconds)
        hasJustWoken = slept && !hasJustWoken
        return !hasJustWoken
    }
}
