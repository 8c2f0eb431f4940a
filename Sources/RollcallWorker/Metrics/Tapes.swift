// From plain numbers to instruments of swift-metrics. What a loop counts for itself is laid beside what was reported
// last, and the difference goes on: so several loops report into one instrument, and none of them ever waits.

internal import Metrics
internal import RollcallModel

/// A counter, kept level with a number that only grows.
struct CounterTape {
    private let counter: any CounterHandler
    private var reported = 0

    init(_ metric: Metric, _ labels: [(String, String)] = [], in factory: any MetricsFactory) {
        counter = factory.makeCounter(label: metric.rawValue, dimensions: labels)
    }

    mutating func reach(_ total: Int) {
        guard total > reported else { return }
        counter.increment(by: Int64(total - reported))
        reported = total
    }
}

/// Counters that labels tell apart, kept level with counts by case.
struct CounterTapes<Case: Hashable & Sendable> {
    private var tapes: [Case: CounterTape] = [:]
    private let make: (Case) -> CounterTape

    /// - Parameters:
    ///   - known: cases that are shown before they occur.
    ///   - labels: what tells a case from the others.
    init(
        _ metric: Metric, known: [Case] = [], in factory: any MetricsFactory,
        labels: @escaping (Case) -> [(String, String)]
    ) {
        make = { CounterTape(metric, labels($0), in: factory) }
        for counted in known { tapes[counted] = make(counted) }
    }

    mutating func reach(_ totals: Counts<Case>) {
        for (counted, total) in totals.occurred { tapes[counted, default: make(counted)].reach(total) }
    }
}

/// One loop's part in a gauge that is the sum of all loops' parts.
struct GaugeTape {
    private let gauge: any MeterHandler
    private var reported = 0

    init(_ metric: Metric, _ labels: [(String, String)] = [], in factory: any MetricsFactory) {
        gauge = factory.makeMeter(label: metric.rawValue, dimensions: labels)
    }

    mutating func stand(at value: Int) {
        // A backend may refuse to go up by less than nothing.
        if value > reported { gauge.increment(by: Double(value - reported)) }
        if value < reported { gauge.decrement(by: Double(reported - value)) }
        reported = value
    }
}

/// A backend's distribution that takes what was counted in buckets as it is.
protocol HistogramTaking: AnyObject {
    /// - Parameter counts: what to add to each bucket of ``Histogram``.
    func add(_ counts: [Int], nanoseconds: Int64)
}

/// A distribution, kept level with a histogram that only grows.
struct HistogramTape {
    private let timer: any TimerHandler
    private var reported = Histogram()

    /// How many durations a backend that takes them one by one is given at once.
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

    /// Each duration counts as the longest of its bucket, and of very many one in `share`.
    private func record(_ counts: [Int], share: Int) {
        for (bucket, count) in counts.enumerated() {
            let longest = Histogram.bounds[min(bucket, Histogram.bounds.count - 1)]
            for _ in 0..<((count + share - 1) / share) { timer.recordNanoseconds(longest) }
        }
    }
}
