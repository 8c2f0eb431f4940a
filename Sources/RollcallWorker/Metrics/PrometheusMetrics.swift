// A swift-metrics backend for Prometheus, in text format 0.0.4. Recording takes no lock; only creating metrics and
// writing the page do.

public import CoreMetrics
internal import NIOConcurrencyHelpers
internal import RollcallShards

/// A swift-metrics backend that Prometheus can scrape.
///
/// `rollcall worker` uses it. A server that embeds a worker can use it too if it has no other backend. Two metrics with
/// the same name and labels are one.
public final class PrometheusMetrics: MetricsFactory {
    private let families = NIOLockedValueBox<[String: Family]>([:])

    /// All metrics with one name: one type, and one metric per set of labels.
    private struct Family {
        var kind: Metric.Kind
        var instruments: [PrometheusLabels: any PrometheusInstrument] = [:]
    }

    public init() {}

    /// Installs a new backend for this process. Call it once, before the first metric is created.
    public static func bootstrap() -> PrometheusMetrics {
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        instrument(label, dimensions, .counter) { PrometheusCounter() }
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        instrument(label, dimensions, .counter) { PrometheusFloatingPointCounter() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        instrument(label, dimensions, .gauge) { PrometheusGauge() }
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return instrument(label, dimensions, .gauge) { PrometheusGauge() } }
        return instrument(label, dimensions, .histogram) { PrometheusHistogram(bounds: PrometheusHistogram.decades) }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        instrument(label, dimensions, .histogram) { PrometheusHistogram(bounds: PrometheusHistogram.seconds) }
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    /// All metrics, including those of the process.
    public func exposition() -> String {
        var text = PrometheusText()
        for (name, family) in families.withLockedValue({ $0 }).sorted(by: { $0.key < $1.key }) {
            text.begin(name, family.kind)
            for (labels, instrument) in family.instruments.sorted(by: { $0.key < $1.key }) {
                instrument.write(name, labels, to: &text)
            }
        }
        ProcessFigures.now.write(to: &text)
        return text.text
    }
}

extension PrometheusMetrics {
    /// A metric whose name is already used with another type works, but is not shown.
    private func instrument<Instrument: PrometheusInstrument>(
        _ label: String, _ dimensions: [(String, String)], _ kind: Metric.Kind, make: () -> Instrument
    ) -> Instrument {
        let (name, labels) = (PrometheusName.metric(label), PrometheusLabels(dimensions))
        return families.withLockedValue { families in
            var family = families[name] ?? Family(kind: kind)
            guard family.kind == kind else { return make() }
            if let present = family.instruments[labels] { return present as? Instrument ?? make() }
            let made = make()
            family.instruments[labels] = made
            families[name] = family
            return made
        }
    }

    private func forget(_ handler: AnyObject) {
        families.withLockedValue { families in
            for (name, family) in families {
                guard let labels = family.instruments.first(where: { $0.value === handler })?.key else { continue }
                families[name]?.instruments[labels] = nil
                if family.instruments.count == 1 { families[name] = nil }
            }
        }
    }
}
