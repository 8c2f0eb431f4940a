import Foundation
import Harness
import Simulation
import Testing

/// Some of the seeds that `make simulate` plays by the thousand, and that it would find mistakes.
@Suite struct SimulationTests {
    @Test("every promise is kept, whatever goes wrong")
    func promises() async {
        let broken = await outcomes(of: Simulation(), seeds: 1...200).filter { $0.violation != nil }
        for outcome in broken {
            Issue.record("seed \(outcome.seed): \(outcome.violation!)\nmake simulate SEED=\(outcome.seed)")
        }
    }

    @Test("a mistake made on purpose is found", arguments: PlantedBug.allCases)
    func found(_ bug: PlantedBug) async {
        let simulation = Simulation(planted: bug)
        let isFound = await onThread { (1...UInt64(100)).contains { simulation.run(seed: $0).violation != nil } }
        #expect(isFound, "not within 100 seeds")
    }

    @Test("the Swift client takes part in many seeds, and its mistakes show nowhere else")
    func clients() async {
        await onThread {
            let seeds = Array(1...UInt64(20))
            let taking = seeds.filter { Simulation().run(seed: $0).clients > 0 }
            #expect(taking.count > 4 && taking.count < 16)
            let planted = Simulation(planted: .clientNeverRejoins)
            for seed in Set(seeds).subtracting(taking) { #expect(planted.run(seed: seed).violation == nil) }
        }
    }

    @Test("a seed plays the same each time, with or without somebody who listens")
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

    /// Each process has another order of a set's members.
    @Test("a seed plays the same in every process", arguments: [3, 16, 55])
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

    private func outcomes(of simulation: Simulation, seeds: ClosedRange<UInt64>) async -> [Outcome] {
        await withTaskGroup(of: [Outcome].self) { group in
            for part in 0..<2 as Range<UInt64> {
                group.addTask {
                    await onThread { seeds.filter { $0 % 2 == part }.map { simulation.run(seed: $0) } }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Plays take seconds: on the threads of tasks they would keep all other tests waiting.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            let thread = Thread { done.resume(returning: body()) }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }
}
