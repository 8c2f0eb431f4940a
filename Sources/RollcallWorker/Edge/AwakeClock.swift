// Time as a loop lives it. A process that was stopped, or a loop that was held up, has not heard its peers meanwhile:
// that time must not be counted against them.

import NIOCore

/// Counts how long a loop has been awake, from one beat of its sweep to the next.
struct AwakeClock {
    /// How often the loop means to beat.
    let interval: TimeAmount
    /// Time awake since the clock was made.
    private(set) var awake = Duration.zero
    private var last: NIODeadline
    private var hasJustWoken = false

    init(interval: TimeAmount, at now: NIODeadline) {
        self.interval = interval
        last = now
    }

    /// Counts the time since the beat before; of a sleep, no more than one interval.
    ///
    /// - Returns: whether deadlines may be judged now. After a sleep they may not before the next beat, so that the loop
    ///   reads first; a loop that is late every time judges every second time.
    mutating func beat(at now: NIODeadline) -> Bool {
        let elapsed = max(.zero, now - last)
        last = now
        let slept = elapsed > .nanoseconds(interval.nanoseconds * 2) + .milliseconds(50)
        awake += .nanoseconds(slept ? interval.nanoseconds : elapsed.nanoseconds)
        hasJustWoken = slept && !hasJustWoken
        return !hasJustWoken
    }
}
