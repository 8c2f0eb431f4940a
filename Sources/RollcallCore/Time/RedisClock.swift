// Redis's time as a worker reckons it between two heartbeats.

public import RollcallModel

/// Redis time, reckoned from the last heartbeat's reply.
public struct RedisClock: Hashable, Sendable {
    private var heard: Timestamp
    private var at: Instant

    /// Takes the time in a reply to a request sent at `sent`: the clock runs from then, so that what it reckons is
    /// never behind Redis by more than drift, nor ahead by more than the round trip.
    public init(time: Timestamp, sent: Instant) {
        heard = time
        at = sent
    }

    public func time(at now: Instant) -> Timestamp {
        heard.advanced(by: now - at)
    }

    /// When, on the process's own clock, Redis time will be `time`.
    public func instant(of time: Timestamp) -> Instant {
        at + time.since(heard)
    }
}
