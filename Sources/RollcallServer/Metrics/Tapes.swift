// Converts plain counters to swift-metrics. Each loop reports the growth since its last report, so several loops share
// one metric without waiting for each other.

package import Metrics
package import RollcallProtocol

/// A metric that follows a growing counter.
package struct CounterTape {
    private let counter: any CounterHandler
    private var reported = 0

    package init(_ metric: Metric, _ labels: [(String, String)] = [], in factory: any MetricsFactory) {
        counter = factory.makeCounter(label: metric.rawValue, dimensions: labels)
    }

    package mutating func reach(_ total: Int) {
        guard total > reported else { return }
        counter.increment(by: Int64(total - reported))
        reported = total
    }
}

/// Metrics that follow counts by case, one per label value.
package struct CounterTapes<Case: Hashable & Sendable> {
    private var tapes: [Case: CounterTape] = [:]
    private let make: (Case) -> CounterTape

    /// - Parameters:
    ///   - known: Cases that are shown before they occur.
    ///   - labels: The labels of a case.
    package init(
        _ metric: Metric, known: [Case] = [], in factory: any MetricsFactory,
        labels: @escaping (Case) -> [(String, String)]
    ) {
        make = { CounterTape(metric, labels($0), in: factory) }
        for counted in known { tapes[counted] = make(counted) }
    }

    package mutating func reach(_ totals: Counts<Case>) {
        for (counted, total) in totals.occurred { tapes[counted, default: make(counted)].reach(total) }
    }
}

/// One loop's share of a gauge that sums all loops.
package struct GaugeTape {
    private let gauge: any MeterHandler
    private var reported = 0

    package init(_ metric: Metric, _ labels: [(String, String)] = [], in factory: any MetricsFactory) {
        gauge = factory.makeMeter(label: metric.rawValue, dimensions: labels)
    }

    package mutating func stand(at value: Int) {
        // Some backends reject negative increments.
        if value > reported { gauge.increment(by: Double(value - reported)) }
        if value < reported { gauge.decrement(by: Double(reported - value)) }
        reported = value
    }
}

/// A histogram backend that accepts bucket counts directly.
package protocol HistogramTaking: AnyObject {
    /// - Parameter counts: The counts to add to each bucket of ``Histogram``.
    func add(_ counts: [Int], nanoseconds: Int64)
}

/// A metric that follows a growing histogram.
struct HistogramTape {
    private let timer: any TimerHandler
    private var reported = Histogram()

    /// How many durations to record at once in a backend that takes them one by one.
    private static let most = 1000

    init(_ metric: Metric, in factory: any MetricsFactory) {
        timer = factory.makeTimer(label: metric.rawValue, dimensions: [])
    }

    mutating func reach(_ total: Histogram) {
        let added = zip(total.counts, reported.counts).map { $0 - $1 }
        let count = added.reduce(0, +)
        guard count > 0 else { return }
        if let timer = timer as? any HistogramTaking {
            timer.add(added, nanoseconds: total.nanoseconds - reported.nanoseconds)
        } else {
            record(added, share: max(1, (count + Self.most - 1) / Self.most))
        }
        reported = total
    }

    /// Records each duration as its bucket's upper bound, and only one of every `share` if there are very many.
    private func record(_ counts: [Int], share: Int) {
        for (bucket, count) in counts.enumerated() {
            let longest = Histogram.bounds[min(bucket, Histogram.bounds.count - 1)]
            for _ in 0..<((count + share - 1) / share) { timer.recordNanoseconds(longest) }
        }
    }
}
