// Prometheus metric types with atomic values, so that recording never waits for another thread or a scrape. A scrape
// may show one of two related values without the other; the next shows both.

internal import CoreMetrics
internal import RollcallModel
internal import RollcallShards
internal import Synchronization

/// A metric on the page.
protocol PrometheusInstrument: AnyObject, Sendable {
    func write(_ name: String, _ labels: PrometheusLabels, to text: inout PrometheusText)
}

final class PrometheusCounter: PrometheusInstrument, CounterHandler {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) {
        if amount > 0 { value.wrappingAdd(amount, ordering: .relaxed) }
    }

    func reset() { value.store(0, ordering: .relaxed) }

    func write(_ name: String, _ labels: PrometheusLabels, to text: inout PrometheusText) {
        text.sample(name, labels, Double(value.load(ordering: .relaxed)))
    }
}

final class PrometheusFloatingPointCounter: PrometheusInstrument, FloatingPointCounterHandler {
    private let value = AtomicDouble()

    func increment(by amount: Double) {
        if amount > 0 { value.add(amount) }
    }

    func reset() { value.set(0) }

    func write(_ name: String, _ labels: PrometheusLabels, to text: inout PrometheusText) {
        text.sample(name, labels, value.now)
    }
}

final class PrometheusGauge: PrometheusInstrument, MeterHandler, RecorderHandler {
    private let value = AtomicDouble()

    func set(_ value: Int64) { self.value.set(Double(value)) }
    func set(_ value: Double) { self.value.set(value) }
    func increment(by amount: Double) { value.add(amount) }
    func decrement(by amount: Double) { value.add(-amount) }
    func record(_ value: Int64) { self.value.set(Double(value)) }
    func record(_ value: Double) { self.value.set(value) }

    func write(_ name: String, _ labels: PrometheusLabels, to text: inout PrometheusText) {
        text.sample(name, labels, value.now)
    }
}

final class PrometheusHistogram: PrometheusInstrument, TimerHandler, RecorderHandler, HistogramTaking {
    static let seconds = Histogram.bounds.map { Double($0) / 1e9 }
    /// For values that are not durations, the unit is unknown.
    static let decades: [Double] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]

    private let bounds: [Double]
    private let counts: [AtomicCount]
    private let sum = AtomicDouble()

    /// - Parameter bounds: The upper bound of each bucket, ascending. One more bucket counts larger values.
    init(bounds: [Double]) {
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in AtomicCount() }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count].add(1)
        sum.add(value)
    }

    func add(_ added: [Int], nanoseconds: Int64) {
        guard added.count == counts.count else { preconditionFailure("the histograms have different buckets") }
        for (count, added) in zip(counts, added) where added > 0 { count.add(added) }
        sum.add(Double(nanoseconds) / 1e9)
    }

    func write(_ name: String, _ labels: PrometheusLabels, to text: inout PrometheusText) {
        var total = 0
        for (index, count) in counts.enumerated() {
            total += count.now
            let bound = index < bounds.count ? bounds[index] : .infinity
            text.sample(name + "_bucket", labels.adding("le", PrometheusText.number(bound)), Double(total))
        }
        text.sample(name + "_sum", labels, sum.now)
        text.sample(name + "_count", labels, Double(total))
    }
}

private final class AtomicCount: Sendable {
    private let value = Atomic(0)

    var now: Int { value.load(ordering: .relaxed) }

    func add(_ amount: Int) { value.wrappingAdd(amount, ordering: .relaxed) }
}

/// A floating-point number, stored as bits and updated by compare-and-exchange.
private final class AtomicDouble: Sendable {
    private let bits = Atomic<UInt64>(0)

    var now: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func add(_ amount: Double) {
        var expected = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: expected) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(
                expected: expected, desired: sum, ordering: .relaxed)
            guard !exchanged else { return }
            expected = original
        }
    }
}
