// Runs seeds of the simulation, and reports those that break a promise.

public import ArgumentParser
public import Simulation

@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Play many workers, devices and observers against a Redis in memory, with all that can befall them.")

    @Option(help: "How many seeds to play.")
    var seeds: UInt64 = 1000

    @Option(help: "The first of them.")
    var from: UInt64 = 1

    @Option(help: "Play this one alone.")
    var seed: UInt64?

    @Flag(help: "Print what happened.")
    var trace = false

    @Option(help: "Make a mistake on purpose: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
    var plant: PlantedBug?

    @Flag(help: "Set Redis's clock now and then. About one seed in a thousand breaks a promise then.")
    var steps = false

    @Option(help: "How many seeds to play at once.")
    var jobs = Machine.cores

    /// In this many seeds, every limit takes effect at least once.
    private static let enoughSeeds: UInt64 = 500

    func validate() throws {
        guard seeds > 0, jobs > 0 else { throw ValidationError("--seeds and --jobs are at least 1") }
        guard !trace || seed != nil else { throw ValidationError("--trace is of one --seed") }
    }

    func run() async throws {
        if let seed {
            try tell(of: Simulation(planted: plant, stepsClock: steps).run(seed: seed, isTraced: trace))
        } else {
            try await playAll()
        }
    }

    private func tell(of outcome: Outcome) throws {
        for line in outcome.trace { print(line) }
        guard let violation = outcome.violation else { return print("seed \(outcome.seed) keeps every promise") }
        print("seed \(outcome.seed) breaks a promise\n\(violation)")
        throw ExitCode.failure
    }

    private func playAll() async throws {
        var report = Report(of: seeds)
        let simulation = Simulation(planted: plant, stepsClock: steps)
        let last = from + (seeds - 1)
        await withTaskGroup(of: Outcome.self) { group in
            var next = from
            for _ in 0..<min(UInt64(jobs), seeds) {
                let seed = next
                next += 1
                group.addTask { simulation.run(seed: seed) }
            }
            for await outcome in group {
                report.played(outcome, replay: replay(outcome.seed))
                guard next <= last else { continue }
                let seed = next
                next += 1
                group.addTask { simulation.run(seed: seed) }
            }
        }
        report.end()
        let isBlind = seeds >= Self.enoughSeeds && !report.bounds.unmet.isEmpty
        if report.failures > 0 || isBlind { throw ExitCode.failure }
    }

    private func replay(_ seed: UInt64) -> String {
        let plant = plant.map { " PLANT=\($0.rawValue)" } ?? ""
        return "make simulate SEED=\(seed)\(plant)\(steps ? " STEPS=1" : "")"
    }
}

extension PlantedBug: ExpressibleByArgument {}
