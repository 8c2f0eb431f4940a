// A histogram of durations. All histograms have the same buckets, in one array that is allocated once, so that
// recording is cheap enough for everything that an event loop does.

/// Durations, counted by length.
package struct Histogram: Hashable, Sendable {
    /// The upper bounds of all buckets except the last, in nanoseconds. They range from the latency of a Redis on the
    /// same host to 10 s. The last bucket counts what is longer.
    package static let bounds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// The counts of the buckets, including the last.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all durations, in nanoseconds.
    package private(set) var nanoseconds: Int64 = 0

    package init() {}

    package var count: Int { counts.reduce(0, +) }

    /// Records a duration. A negative one, from clocks that disagree, counts as zero.
    package mutating func record(nanoseconds duration: Int64) {
        let duration = max(0, duration)
        counts[Self.bucket(of: duration)] += 1
        nanoseconds = nanoseconds.saturatingSum(duration)
    }

    package mutating func record(_ duration: Duration) {
        record(nanoseconds: min(max(duration, .zero), .seconds(1_000_000)).milliseconds * 1_000_000)
    }

    package static func + (left: Histogram, right: Histogram) -> Histogram { left.merged(with: right, +) }

    /// Returns what was recorded since `right`, an earlier state of the same histogram.
    package static func - (left: Histogram, right: Histogram) -> Histogram { left.merged(with: right, -) }

    private func merged(with other: Histogram, _ operation: (Int64, Int64) -> Int64) -> Histogram {
        var merged = Histogram()
        merged.counts = zip(counts, other.counts).map { Int(operation(Int64($0), Int64($1))) }
        merged.nanoseconds = operation(nanoseconds, other.nanoseconds)
        return merged
    }

    /// Returns the duration that this fraction of the durations (0 to 1) does not exceed, in nanoseconds. Within a
    /// bucket the durations are assumed to be evenly distributed. In the last bucket the result is the greatest bound.
    ///
    /// - Returns: `nil` if the histogram is empty.
    /// - Returns: `nil` if there are none.
    package func quantile(_ part: Double) -> Int64? {
        let rank = part * Double(count)
        guard count > 0 else { return nil }
        var before = 0.0
        for (bucket, bound) in Self.bounds.enumerated() {
            let inside = Double(counts[bucket])
            if inside > 0, before + inside >= rank {
                let shortest = bucket == 0 ? 0 : Self.bounds[bucket - 1]
                return shortest + Int64(Double(bound - shortest) * (rank - before) / inside)
            }
            before += inside
        }
        return Self.bounds.last
    }

    private static func bucket(of duration: Int64) -> Int {
        let bounds = bounds
        var bucket = 0
        while bucket < bounds.count, duration > bounds[bucket] { bucket += 1 }
        return bucket
    }
}
