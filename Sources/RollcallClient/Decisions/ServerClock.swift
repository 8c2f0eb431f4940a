// "Last seen" texts use server time, so that a device with a wrong clock shows the same as every other device.

/// The worker's time, continued by this device's steady clock since the worker last stated it. The worker's clock may
/// be set, so the client asks for the time repeatedly.
struct ServerClock {
    /// The interval between requests for the time.
    static let interval = Duration.seconds(60)
    /// The interval if the worker's clock was probably set. The worker itself notices this with its next heartbeat, so
    /// the client asks twice.
    static let shortestInterval = Duration.seconds(5)
    /// By how much the time must change before texts are updated.
    static let noticeable = Duration.seconds(1)

    private var said: (time: Timestamp, at: ContinuousClock.Instant)?
    /// When the time was last requested or received.
    private var asked: ContinuousClock.Instant?
    /// How many requests follow at the short interval.
    private var doubts = 0
    /// The latest moment that the worker mentioned. An older one says nothing new about the clock.
    private var latest: Timestamp?

    /// When to request the time; `nil` before the first welcome.
    var deadline: ContinuousClock.Instant? { asked.map { $0 + (doubts > 0 ? Self.shortestInterval : Self.interval) } }

    mutating func asked(at now: ContinuousClock.Instant) {
        asked = now
        doubts = max(0, doubts - 1)
    }

    /// Handles the worker's time, which the worker stated at most `age` ago. If the known time is within that span, it
    /// is kept.
    ///
    /// - Returns: whether the time changed noticeably.
    mutating func timeHeard(_ time: Timestamp, age: Duration = .zero, at now: ContinuousClock.Instant) -> Bool {
        asked = now
        let known = self.time(at: now)
        let right = min(max(known ?? time, time), time.advanced(by: age))
        said = (right, now)
        guard let known else { return false }
        return right.since(known) > Self.noticeable || known.since(right) > Self.noticeable
    }

    /// Handles a moment at which something happened, by the worker's clock. If it is in the future, the worker's clock
    /// was set: forward just now, or back earlier, since stored moments may be older than that. Only the worker can
    /// tell, so it is asked.
    mutating func momentHeard(_ moment: Timestamp, at now: ContinuousClock.Instant) {
        if let latest, moment <= latest { return }
        latest = moment
        if let known = time(at: now), moment.since(known) > Self.noticeable { doubts = 2 }
    }

    /// The worker's time; `nil` before the first welcome.
    func time(at now: ContinuousClock.Instant) -> Timestamp? {
        said.map { $0.time.advanced(by: now - $0.at) }
    }
}
