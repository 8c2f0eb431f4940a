// "Last seen" texts use server time, so that a device with a wrong clock shows the same as every other device.

/// The worker's time, continued by this device's steady clock since the worker last stated it. The worker's clock may be
/// set, so the client asks for the time once a minute while presence is observed.
struct ServerClock {
    static let interval = Duration.seconds(60)
    /// By how much the time must change before texts are updated.
    private static let noticeable = Duration.seconds(1)

    private var said: (time: Timestamp, at: ContinuousClock.Instant)?
    /// When the time was last requested or received.
    private var asked: ContinuousClock.Instant?

    /// When to request the time; `nil` before the first welcome.
    var deadline: ContinuousClock.Instant? { asked.map { $0 + Self.interval } }

    mutating func asked(at now: ContinuousClock.Instant) {
        asked = now
    }

    /// Handles the worker's time, which the worker stated at most `age` ago. If the known time is within that span, it
    /// is kept.
    ///
    /// - Returns: whether the time changed noticeably.
    mutating func heard(_ time: Timestamp, age: Duration, at now: ContinuousClock.Instant) -> Bool {
        asked = now
        let known = self.time(at: now) ?? time
        let right = min(max(known, time), time.advanced(by: age))
        said = (right, now)
        return right.since(known) > Self.noticeable || known.since(right) > Self.noticeable
    }

    /// The worker's time; `nil` before the first welcome.
    func time(at now: ContinuousClock.Instant) -> Timestamp? {
        said.map { $0.time.advanced(by: now - $0.at) }
    }
}
