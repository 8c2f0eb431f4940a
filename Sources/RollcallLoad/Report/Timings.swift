// How long something took, each time that it happened, to three digits. What counts is from when a thing was due to
// when it was done; whoever records sees to that, since no later correction makes up for it.

internal import Histogram

/// Durations up to an hour, to the microsecond, in a histogram of high dynamic range.
package struct Timings: Sendable {
    private static let longest: UInt64 = 3_600_000_000

    private var histogram = Histogram<UInt64>(highestTrackableValue: longest)

    package init() {}

    package var count: Int { Int(histogram.totalCount) }

    /// Notes a duration; a negative one, of a clock that is a moment behind another processor's, counts as none.
    package mutating func record(_ duration: Duration) {
        record(microseconds: UInt64(max(0, duration / .microseconds(1))), times: 1)
    }

    private mutating func record(microseconds: UInt64, times: UInt64) {
        _ = histogram.record(min(microseconds, Self.longest), count: times)
    }

    /// The shortest duration that this part of all do not exceed, in milliseconds; `nil` if there are none.
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

/// As pairs of microseconds and how often: most of a histogram is empty.
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
