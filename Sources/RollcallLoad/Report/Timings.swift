// A distribution of durations with three significant digits. Durations must be measured from when something was due
// until it was done. Callers must do so, since it cannot be corrected later.

internal import Histogram

/// Durations up to an hour, with microsecond resolution, in an HDR histogram.
package struct Timings: Sendable {
    private static let longest: UInt64 = 3_600_000_000

    private var histogram = Histogram<UInt64>(highestTrackableValue: longest)

    package init() {}

    package var count: Int { Int(histogram.totalCount) }

    /// Records a duration. A negative one, from the clocks of two processors, counts as zero.
    package mutating func record(_ duration: Duration) {
        record(microseconds: UInt64(max(0, duration / .microseconds(1))), times: 1)
    }

    private mutating func record(microseconds: UInt64, times: UInt64) {
        _ = histogram.record(min(microseconds, Self.longest), count: times)
    }

    /// Returns the shortest duration that this fraction (0 to 1) of the durations do not exceed, in milliseconds; `nil`
    /// if there are none.
    package func milliseconds(_ part: Double) -> Double? {
        guard count > 0 else { return nil }
        return Double(histogram.valueAtPercentile(part * 100)) / 1_000
    }

    package static func + (left: Timings, right: Timings) -> Timings {
        var sum = left
        sum.histogram.add(right.histogram)
        return sum
    }
}

/// Encoded as pairs of a duration in microseconds and its count, since most of a histogram is empty.
extension Timings: Codable {
    package init(from decoder: any Decoder) throws {
        var pairs = try decoder.unkeyedContainer()
        while !pairs.isAtEnd {
            let microseconds = try pairs.decode(UInt64.self)
            record(microseconds: microseconds, times: try pairs.decode(UInt64.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var pairs = encoder.unkeyedContainer()
        for recorded in histogram.recordedValues() {
            try pairs.encode(min(recorded.value, histogram.maxRecorded))
            try pairs.encode(recorded.count)
        }
    }
}
