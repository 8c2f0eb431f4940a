// Monotonic time for the decision code. It never reads a clock: each event carries the time at which it happened.

internal import RollcallProtocol

/// A moment on this process's monotonic clock. Only differences between two instants have a meaning.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (instant: Self, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds.saturatingSum(nanoseconds(in: duration)))
    }

    public static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(left.nanoseconds.saturatingDifference(right.nanoseconds))
    }

    private static func nanoseconds(in duration: Duration) -> Int64 {
        let fitting = min(max(duration, .nanoseconds(Int64.min)), .nanoseconds(Int64.max))
        let (seconds, attoseconds) = fitting.components
        return (seconds * 1_000_000_000).saturatingSum(attoseconds / 1_000_000_000)
    }
}
