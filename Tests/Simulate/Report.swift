internal import Simulation

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reports the progress of a run.
struct Report {
    private let seeds: UInt64
    private let began = ContinuousClock.now
    private var lastLine = ContinuousClock.now
    private var played: UInt64 = 0
    private(set) var failures = 0
    private(set) var bounds = BoundCounts()

    init(of seeds: UInt64) {
        self.seeds = seeds
    }

    mutating func played(_ outcome: Outcome, replay: String) {
        played += 1
        bounds.add(outcome.bounds)
        if let violation = outcome.violation {
            failures += 1
            print("seed \(outcome.seed) breaks a promise\n  \(violation)\n  \(replay)")
        }
        guard ContinuousClock.now - lastLine >= .seconds(5) else { return }
        lastLine = .now
        print(summary)
    }

    func end() {
        let met = bounds.counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) × \($0.key.rawValue)" }
        print("bounds met: " + met.joined(separator: ", "))
        if !bounds.unmet.isEmpty { print("bounds never met: " + bounds.unmet.map(\.rawValue).joined(separator: ", ")) }
        print(summary + (failures == 0 ? ": every promise kept" : ": \(failures) broke a promise"))
    }

    private var summary: String {
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        return
            "\(played) of \(seeds) seeds in \(Int(elapsed)) s (\(Int(Double(played) / max(elapsed, 0.001))) a second)"
    }
}

/// The machine that runs the simulation.
enum Machine {
    static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }
}
