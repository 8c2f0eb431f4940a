// The results of a bench, as figures.

import Foundation

/// The distribution of many latencies.
struct Latencies: Encodable {
    /// In milliseconds.
    let p50, p99, max: Double

    var all: [Double] { [p50, p99, max] }

    /// - Parameter durations: at least one.
    init(_ durations: [Duration]) {
        let sorted = durations.sorted()
        func percentile(_ part: Double) -> Double {
            // The smallest value that is not exceeded by this fraction of all.
            (sorted[Int((Double(sorted.count) * part).rounded(.up)) - 1] / .microseconds(1)).rounded() / 1000
        }
        p50 = percentile(0.5)
        p99 = percentile(0.99)
        max = percentile(1)
    }
}

/// Both measurements of a run, and their ratio.
struct BenchReport: Encodable {
    let signals: Int
    /// From device to device, over two workers.
    let typing: Latencies
    /// From a bare PUBLISH to a bare SUBSCRIBE.
    let publish: Latencies

    /// The latencies in milliseconds, in aligned columns.
    var table: String {
        """
                                     p50      p99      max  ms
        typing, device to device\(row(typing))
        PUBLISH to SUBSCRIBE    \(row(publish))
        ratio                   \(cells(zip(typing.all, publish.all).map { $0 / $1 }, 1))
        \(signals) of each, in turns
        """
    }

    private func row(_ latencies: Latencies) -> String {
        cells(latencies.all, 3)
    }

    private func cells(_ values: [Double], _ digits: Int) -> String {
        values.map { value in
            let text = value.formatted(.number.precision(.fractionLength(digits)).grouping(.never))
            return String(repeating: " ", count: Swift.max(0, 9 - text.count)) + text
        }.joined()
    }
}
