// A swift-metrics backend for Prometheus, in text format 0.0.4: one line per value, below the metric's help text.

public import CoreMetrics
internal import Foundation
internal import NIOConcurrencyHelpers
internal import RollcallProtocol
internal import RollcallServer
internal import Synchronization

/// A swift-metrics backend that Prometheus can scrape.
///
/// `rollcall worker` uses it. A server that embeds a worker can use it too if it has no other backend. Two metrics with
/// the same name and labels are one; a metric whose name is already used with another type works, but is not shown.
public final class PrometheusMetrics: MetricsFactory {
    /// All series by the metric's name, and there by their labels as text.
    private let families = NIOLockedValueBox<[String: (kind: Metric.Kind, series: [String: Series])]>([:])

    public init() {}

    /// Installs a new backend for this process. Call it once, before the first metric is created.
    public static func bootstrap() -> PrometheusMetrics {
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        return metrics
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        // For values that are not durations, the unit is unknown.
        aggregate
            ? series(label, dimensions, .histogram, bounds: (0...6).map { pow(10, Double($0)) })
            : series(label, dimensions, .gauge)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram, bounds: Histogram.bounds.map { Double($0) / 1e9 })
    }

    public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// All metrics, including those of the process.
    public func exposition() -> String {
        var text = ""
        func begin(_ name: String, _ kind: Metric.Kind) {
            if let help = Metric(rawValue: name)?.help { text += "# HELP \(name) \(help)\n" }
            text += "# TYPE \(name) \(kind.rawValue)\n"
        }
        for (name, family) in families.withLockedValue({ $0 }).sorted(by: { $0.key < $1.key }) {
            begin(name, family.kind)
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                text += series.lines(name, labels)
            }
        }
        for (metric, value) in ProcessFigures.now {
            begin(metric.rawValue, metric.kind)
            text += "\(metric.rawValue) \(Series.number(value))\n"
        }
        return text
    }

    private func series(
        _ label: String, _ dimensions: [(String, String)], _ kind: Metric.Kind, bounds: [Double] = []
    ) -> Series {
        let labels = dimensions.map { "\(Self.name($0, allowing: "_"))=\"\(Self.escaped($1))\"" }.sorted()
            .joined(separator: ",")
        return families.withLockedValue { families in
            var family = families[Self.name(label, allowing: ":")] ?? (kind, [:])
            guard family.kind == kind else { return Series(kind, bounds) }
            if let present = family.series[labels] { return present }
            let made = Series(kind, bounds)
            family.series[labels] = made
            families[Self.name(label, allowing: ":")] = family
            return made
        }
    }

    private func forget(_ handler: AnyObject) {
        families.withLockedValue { families in
            for (name, family) in families {
                guard let labels = family.series.first(where: { $0.value === handler })?.key else { continue }
                families[name]?.series[labels] = nil
                if family.series.count == 1 { families[name] = nil }
            }
        }
    }

    private static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// A valid name: invalid characters become underscores.
    private static func name(_ text: String, allowing extra: Unicode.Scalar) -> String {
        let name = text.unicodeScalars.enumerated().reduce(into: "") { name, each in
            let (index, scalar) = each
            let isValid =
                ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_" || scalar == extra
                || ("0"..."9").contains(scalar) && index > 0
            name.unicodeScalars.append(isValid ? scalar : "_")
        }
        return name.isEmpty ? "_" : name
    }
}

/// One metric with one set of labels.
private final class Series: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler,
    HistogramTaking
{
    private let kind: Metric.Kind
    /// The upper bound of each bucket of a histogram, ascending. One more bucket counts larger values.
    private let bounds: [Double]
    /// The value, or a histogram's sum and the counts in its buckets.
    private let state: Mutex<(value: Double, counts: [Int])>

    init(_ kind: Metric.Kind, _ bounds: [Double]) {
        (self.kind, self.bounds) = (kind, bounds)
        state = Mutex((0, Array(repeating: 0, count: bounds.count + 1)))
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { if kind != .counter || amount > 0 { state.withLock { $0.value += amount } } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func reset() { set(0.0) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { state.withLock { $0.value = value } }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard kind == .histogram else { return set(value) }
        guard !value.isNaN else { return }
        state.withLock {
            $0.counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
            $0.value += value
        }
    }

    func add(_ added: [Int], nanoseconds: Int64) {
        precondition(added.count == bounds.count + 1, "the histograms have different buckets")
        state.withLock { state in
            for (bucket, count) in added.enumerated() { state.counts[bucket] += count }
            state.value += Double(nanoseconds) / 1e9
        }
    }

    func lines(_ name: String, _ labels: String) -> String {
        let (value, counts) = state.withLock { $0 }
        let braced = labels.isEmpty ? "" : "{\(labels)}"
        // A gauge that does not know its value is left out, so that alerts can tell.
        guard kind == .histogram else { return value.isNaN ? "" : "\(name)\(braced) \(Self.number(value))\n" }
        var (text, total) = ("", 0)
        for (count, bound) in zip(counts, bounds + [.infinity]) {
            total += count
            let bucket = (labels.isEmpty ? "" : labels + ",") + "le=\"\(Self.number(bound))\""
            text += "\(name)_bucket{\(bucket)} \(total)\n"
        }
        return text + "\(name)_sum\(braced) \(Self.number(value))\n\(name)_count\(braced) \(total)\n"
    }

    /// A number in Prometheus's format: whole numbers without a fraction, whatever their size.
    static func number(_ value: Double) -> String {
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}

/// Metrics of the process, with the names that Prometheus client libraries use. They are read at each scrape; values that
/// the system does not provide are omitted.
private enum ProcessFigures {
    static var now: [(Metric, Double)] {
        let resident = text("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count
        let figures: [(Metric, Double?)] = [
            (.cpuSeconds, ProcessorTime.used.map { $0 / .seconds(1) }),
            (.mostOpenFiles, Double(OpenFileLimit.current.rlim_cur)), (.openFiles, files.map(Double.init)),
            (.residentMemory, resident.map { $0 * Double(getpagesize()) }), (.startTime, start),
        ]
        return figures.compactMap { metric, value in value.map { (metric, $0) } }
    }

    /// The twentieth field after the program's name counts clock ticks since boot. The name itself may contain any
    /// character.
    private static let start: Double? = {
        guard let stat = text("/proc/self/stat"), let end = stat.lastIndex(of: ")"),
            let boot = text("/proc/stat")?.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
            let ticks = stat[end...].split(separator: " ").dropFirst(20).first.flatMap({ Double($0) }),
            let booted = boot.split(separator: " ").last.flatMap({ Double($0) })
        else { return nil }
        return booted + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
