// Moments on which several processes must agree are read from one clock, that of Redis. A process measures its own
// durations on its monotonic clock. The two have different types, so the compiler rejects comparing them.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A moment on Redis's clock, in milliseconds since 1970.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The current time on the clock of this host. Used to check tokens and for dates in the log.
    package static var hostTime: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `duration` later (or earlier, if negative), with a precision of one millisecond.
    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(milliseconds: milliseconds.saturatingSum(duration.milliseconds))
    }

    /// The time from `earlier` to this moment; negative if this moment is before it.
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
    /// The duration in whole milliseconds, rounded towards zero; the nearest limit if they do not fit.
    public var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        return milliseconds.saturatingSum(attoseconds / 1_000_000_000_000_000)
    }
}

// MARK: Arithmetic

// Times and durations also come from Redis, where other programs can write any value. A result that does not fit
// becomes the nearest limit instead of ending the worker.

extension Int64 {
    /// The number as the scripts hold it, whose numbers are doubles: beyond ±2^53, where those are not exact, the limit. Every
    /// integer from Redis is bounded where it is read, so that no sum or product of a few of them overflows.
    package var bounded: Int64 { Swift.min(Swift.max(self, -(1 << 53)), 1 << 53) }

    /// The sum, or the nearest number that fits.
    package func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest number that fits.
    package func saturatingDifference(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}

// MARK: Durations

extension Duration {
    /// The duration for people to read: below a minute in tenths of a second, otherwise in whole minutes, hours or
    /// days, rounded down. A negative duration counts as zero.
    package var spoken: String {
        let milliseconds = max(0, milliseconds)
        return switch milliseconds {
        case ..<60_000: "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
        case ..<3_600_000: "\(milliseconds / 60_000) min"
        case ..<172_800_000: "\(milliseconds / 3_600_000) h"
        default: "\(milliseconds / 86_400_000) d"
        }
    }
}
