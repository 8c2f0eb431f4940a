// Moments that several processes must agree on are read from one clock: Redis's. A process times its own affairs on
// its monotonic clock and never compares the two, which two types make a compile-time matter.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A moment on the clock of Redis, in milliseconds since 1970.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Now, by the clock of this host. Tokens are judged by it, and the log is dated by it.
    package static var hostTime: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `duration` later (earlier if negative), to the millisecond.
    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(milliseconds: milliseconds.saturatingSum(duration.milliseconds))
    }

    /// How long after `earlier` this moment is; negative if it is before it.
    public func since(_ earlier: Timestamp) -> Duration {
        .milliseconds(milliseconds.saturatingDifference(earlier.milliseconds))
    }
}

extension Timestamp: Codable {
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension Duration {
    /// The whole milliseconds in this duration, rounded towards zero.
    public var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
