// How often something took how long. The buckets are the same everywhere and their counts one array, made once: to note
// a duration is two additions, which a loop can afford for everything that it does.

/// Durations, counted by how long they were.
package struct Histogram: Hashable, Sendable {
    /// The longest duration of each bucket but the last, which takes all that is longer; in nanoseconds. From what a
    /// Redis on the same host takes, to what nobody waits for any more.
    package static let bounds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// How many fell into each bucket, the last one among them.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// All of them together.
    package private(set) var nanoseconds: Int64 = 0

    package init() {}

    package var count: Int { counts.reduce(0, +) }

    /// Notes a duration; a negative one, of clocks that disagree, counts as none.
    package mutating func record(nanoseconds duration: Int64) {
        let duration = max(0, duration)
        counts[Self.bucket(of: duration)] += 1
        nanoseconds = nanoseconds.saturatingSum(duration)
    }

    package mutating func record(_ duration: Duration) {
        record(nanoseconds: min(max(duration, .zero), .seconds(1_000_000)).milliseconds * 1_000_000)
    }

    package static func + (left: Histogram, right: Histogram) -> Histogram { left.merged(with: right, +) }

    /// What came since; `right` is the same distribution, earlier.
    package static func - (left: Histogram, right: Histogram) -> Histogram { left.merged(with: right, -) }

    private func merged(with other: Histogram, _ operation: (Int64, Int64) -> Int64) -> Histogram {
        var merged = Histogram()
        merged.counts = zip(counts, other.counts).map { Int(operation(Int64($0), Int64($1))) }
        merged.nanoseconds = operation(nanoseconds, other.nanoseconds)
        return merged
    }

    /// The duration that this part of all do not exceed, as if those of a bucket lay evenly in it; in nanoseconds. Of
    /// what is longer than every bound it knows no more than that.
    ///
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
