// The process's own clock as the decisions see it. They never read it: every event says when it happens.

/// A moment on this process's monotonic clock; only differences between two mean anything.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func + (instant: Self, duration: Duration) -> Instant {
        let (seconds, attoseconds) = duration.components
        return Instant(nanoseconds: instant.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    public static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
}
