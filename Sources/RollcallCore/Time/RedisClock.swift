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

    /// The clock after a further reply, to a request sent at `sent`.
    ///
    /// After a slow round trip the new reckoning may be far ahead. Of two that are not behind, the earlier is the nearer
    /// to the truth; unless it is behind the reply, which means that the clock of Redis was set.
    public func corrected(by time: Timestamp, sent: Instant, at now: Instant) -> RedisClock {
        let other = RedisClock(time: time, sent: sent)
        let own = self.time(at: now).advanced(by: (now - at) / Self.mostDriftPart)
        return own >= time && own < other.time(at: now) ? RedisClock(time: own, sent: now) : other
    }

    /// Clocks drift apart by less than this part of the time that passes.
    private static let mostDriftPart = 1000

    public func time(at now: Instant) -> Timestamp {
        heard.advanced(by: now - at)
    }

    /// When, on the process's own clock, Redis time will be `time`.
    public func instant(of time: Timestamp) -> Instant {
        at + time.since(heard)
    }
}
