// "Last seen" is told in server time, so that a device with a wrong clock tells the same as every other.

/// The worker's time, carried on by this device's steady clock between two words of it.
struct ServerClock {
    private var said: (time: Timestamp, at: ContinuousClock.Instant)?

    mutating func timeHeard(_ time: Timestamp, at now: ContinuousClock.Instant) {
        said = (time, now)
    }

    /// `nil` before the first welcome.
    func time(at now: ContinuousClock.Instant) -> Timestamp? {
        said.map { $0.time.advanced(by: now - $0.at) }
    }
}
