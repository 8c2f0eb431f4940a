// "Last seen" is told in server time, so that a device with a wrong clock tells the same as every other.

/// The worker's time, carried on by this device's steady clock between two words of it. The worker's clock may be set
/// meanwhile, so it is asked for again.
struct ServerClock {
    /// How often to ask.
    static let interval = Duration.seconds(60)
    /// How soon to ask where there is reason to doubt. A worker learns with its next heartbeat that the clock was set,
    /// so it is asked twice.
    static let shortestInterval = Duration.seconds(5)
    /// By how much the time must move before what was told in it is told again.
    static let noticeable = Duration.seconds(1)

    private var said: (time: Timestamp, at: ContinuousClock.Instant)?
    /// When the time was last asked for or heard.
    private var asked: ContinuousClock.Instant?
    /// How often to ask soon.
    private var doubts = 0
    /// The latest moment heard of: what is older is no news.
    private var latest: Timestamp?

    /// When to ask for the time; `nil` before the first welcome.
    var deadline: ContinuousClock.Instant? { asked.map { $0 + (doubts > 0 ? Self.shortestInterval : Self.interval) } }

    mutating func asked(at now: ContinuousClock.Instant) {
        asked = now
        doubts = max(0, doubts - 1)
    }

    /// The worker told its time, at most `age` ago. Within that span, what is known already is as good.
    ///
    /// - Returns: whether the time has moved noticeably.
    mutating func timeHeard(_ time: Timestamp, age: Duration = .zero, at now: ContinuousClock.Instant) -> Bool {
        asked = now
        let known = self.time(at: now)
        let right = min(max(known ?? time, time), time.advanced(by: age))
        said = (right, now)
        guard let known else { return false }
        return right.since(known) > Self.noticeable || known.since(right) > Self.noticeable
    }

    /// Something happened at this moment of the worker's. If that has not come yet, either clock was set: which one, the
    /// worker alone can tell, since what it keeps may be older than the setting.
    mutating func momentHeard(_ moment: Timestamp, at now: ContinuousClock.Instant) {
        if let latest, moment <= latest { return }
        latest = moment
        if let known = time(at: now), moment.since(known) > Self.noticeable { doubts = 2 }
    }

    /// `nil` before the first welcome.
    func time(at now: ContinuousClock.Instant) -> Timestamp? {
        said.map { $0.time.advanced(by: now - $0.at) }
    }
}
