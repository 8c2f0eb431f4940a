import Foundation
import Harness
import Simulation
import Testing

/// Runs some of the seeds of which `make simulate` runs thousands, and checks that planted bugs are found.
@Suite struct SimulationTests {
    @Test("every promise is kept under all faults", arguments: [1...20, 21...40] as [ClosedRange<UInt64>])
    func promises(seeds: ClosedRange<UInt64>) async {
        let broken = await onThread { seeds.map { Simulation().run(seed: $0) }.filter { $0.violation != nil } }
        for outcome in broken {
            Issue.record("seed \(outcome.seed): \(outcome.violation!)\nmake simulate SEED=\(outcome.seed)")
        }
    }

    /// A change may shift the random draws, so that another seed finds the bug. The new number belongs into
    /// ``PlantedBug/seed``.
    @Test("a planted bug is found", arguments: PlantedBug.allCases)
    func found(_ bug: PlantedBug) async {
        let simulation = Simulation(planted: bug)
        let seed = await onThread {
            ([bug.seed] + Array(1...200)).first { simulation.run(seed: $0).violation != nil }
        }
        if let seed, seed != bug.seed { print("\(bug.rawValue) is now found by seed \(seed)") }
        #expect(seed != nil, "not within 200 seeds")
    }

    @Test("the Swift client takes part in many seeds, and its planted bugs have no effect elsewhere")
    func clients() async {
        await onThread {
            let seeds = Array(1...UInt64(20))
            let taking = seeds.filter { Simulation().run(seed: $0).clients > 0 }
            #expect(taking.count > 4 && taking.count < 16)
            let planted = Simulation(planted: .clientNeverRejoins)
            for seed in Set(seeds).subtracting(taking) { #expect(planted.run(seed: seed).violation == nil) }
        }
    }

    @Test("a seed runs the same each time, with or without a trace")
    func sameEachTime() async {
        await onThread {
            for seed in [3, 16, 55] as [UInt64] {
                let first = Simulation().run(seed: seed, isTraced: true)
                let second = Simulation().run(seed: seed, isTraced: true)
                #expect(first.trace == second.trace && first.trace.count > 500)
            }
            let planted = Simulation(planted: .stopIgnoresOtherDevices)
            #expect(planted.run(seed: 1, isTraced: true).violation == planted.run(seed: 1).violation)
        }
    }

    /// The order of a set's elements differs between processes.
    @Test("a seed runs the same in every process", arguments: [3, 16, 55])
    func sameInEachProcess(seed: Int) async {
        @Sendable func trace() throws -> Data {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: RollcallProgram.path(of: "simulate"))
            process.arguments = ["--seed", "\(seed)", "--trace"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            defer { process.waitUntilExit() }
            return output.fileHandleForReading.readDataToEndOfFile()
        }
        let traces = await onThread { (0..<2).compactMap { _ in try? trace() } }
        #expect(traces.count == 2 && traces.allSatisfy { $0.count > 10_000 } && traces.first == traces.last)
    }

    /// Runs this on a new thread, since it takes seconds and would block all other tests on the threads of tasks.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            let thread = Thread { done.resume(returning: body()) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
