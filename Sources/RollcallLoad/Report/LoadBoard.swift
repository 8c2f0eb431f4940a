// The state of a running load, as far as it is known.

/// The latest reports of all processes.
package struct LoadBoard: Sendable {
    private let scenario: ScenarioKind
    private let devices: Int
    private let duration: Duration
    /// The reports of the processes that carry the load; `nil` before a process's first report.
    package var parts: [PartReport?]
    package var witness: PartReport?
    package var workers = WorkersMeter()

    package init(_ scenario: ScenarioKind, devices: Int, processes: Int, duration: Duration) {
        (self.scenario, self.devices, self.duration) = (scenario, devices, duration)
        parts = Array(repeating: nil, count: processes)
    }

    /// Whether all processes have gathered, including the witness.
    package var isReady: Bool { (parts + [witness]).allSatisfy { $0?.phase == .ready } }
    /// Whether the processes that carry the load have finished.
    package var isOver: Bool { parts.allSatisfy { $0?.phase == .done } }

    private var reports: [PartReport] { parts.compactMap { $0 } }
    private var seconds: Double { reports.map(\.seconds).max() ?? 0 }
    /// Whether the measurement has started.
    package var isMeasured: Bool { seconds > 0 }
    private func sum(_ figure: KeyPath<Tally, Int>) -> Int { reports.reduce(0) { $0 + $1.tally[keyPath: figure] } }

    /// The progress, from 0 to 1.
    private var progress: Double {
        let all = isMeasured ? duration / .seconds(1) : Double(devices)
        return min(1, (isMeasured ? seconds : Double(reports.reduce(0) { $0 + $1.settled })) / max(all, 1))
    }

    /// The board as several lines.
    package var lines: [String] {
        [
            "rollcall load: \(scenario.rawValue)", "",
            "  \(isMeasured ? "measuring" : "gathering")  \(bar)  \(position)", "",
        ] + facts.map { "  \($0)" } + ["", "  Ctrl-C ends it, with the report so far"]
    }

    /// The same as one line.
    package var line: String { ([position] + facts).joined(separator: "; ") }

    private var bar: String {
        let filled = Int(progress * 30)
        return String(repeating: "█", count: filled) + String(repeating: "░", count: 30 - filled)
    }

    private var position: String {
        isMeasured
            ? "\(decimal(seconds, 0)) s of \(decimal(duration / .seconds(1), 0)) s"
            : "\(reports.reduce(0) { $0 + $1.settled }) of \(devices) devices"
    }

    private var facts: [String] {
        var facts = ["\(sum(\.present)) here, \(sum(\.losses)) lost, \(sum(\.failures)) attempts failed"]
        if let median = reports.compactMap(\.median).max(), let slow = reports.compactMap(\.slow).max() {
            facts.append("typing p50 \(decimal(median, 2)) ms, p99 \(decimal(slow, 2)) ms")
        }
        if let median = witness?.median, let slow = witness?.slow {
            facts.append("typing beside it p50 \(decimal(median, 2)) ms, p99 \(decimal(slow, 2)) ms")
        }
        if isMeasured { facts.append(processor) }
        return facts
    }

    private var processor: String {
        let own = (reports + [witness].compactMap { $0 }).reduce(0) { $0 + $1.processor } / seconds
        let theirs = workers.cores.map { "workers \(decimal($0, 2)) of a core, " } ?? ""
        return "\(theirs)this load \(decimal(own, 2)) of a core"
    }
}
