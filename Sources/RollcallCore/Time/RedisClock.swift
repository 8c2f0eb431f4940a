// A worker's estimate of Redis time between two heartbeats.

public import RollcallProtocol

/// Estimates Redis time from the reply to the last heartbeat.
public struct RedisClock: Hashable, Sendable {
    private var last: Timestamp
    private var at: Instant

    /// Starts the clock from the time in a reply to a request sent at `sent`.
    ///
    /// The clock assumes that Redis read its time when the request was sent. The estimate is therefore behind Redis by
    /// clock drift at most, and ahead by one round trip at most.
    public init(time: Timestamp, sent: Instant) {
        last = time
        at = sent
    }

    /// Before the first reply.
    public static let unknown = RedisClock(time: Timestamp(milliseconds: 0), sent: Instant(nanoseconds: 0))

    /// Returns the clock after another reply, to a request sent at `sent`.
    ///
    /// After a slow round trip, the new estimate may be far ahead. Neither estimate is behind, so the earlier one is
    /// more accurate. An own estimate behind the reply means that Redis's clock was set forward; then the reply counts.
    public func corrected(by time: Timestamp, sent: Instant, at now: Instant) -> RedisClock {
        let other = RedisClock(time: time, sent: sent)
        let own = self.time(at: now).advanced(by: (now - at) / Self.mostDriftPart)
        return own >= time && own < other.time(at: now) ? RedisClock(time: own, sent: now) : other
    }

    /// Two clocks drift apart by less than 1/1000 of the elapsed time.
    private static let mostDriftPart = 1000

    public func time(at now: Instant) -> Timestamp {
        last.advanced(by: now - at)
    }

    /// Returns the moment on the process's own clock at which Redis time will be `time`.
    public func instant(of time: Timestamp) -> Instant {
        at + time.since(last)
    }
}
