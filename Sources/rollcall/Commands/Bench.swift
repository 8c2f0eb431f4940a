import ArgumentParser

/// `rollcall bench`: measures how long typing takes from one device to another.
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure typing from device to device, over two workers and a private Redis.",
        discussion: """
            Measures each signal from the write at one device to the complete frame at another, on another worker. \
            Alternates with a plain PUBLISH to a plain SUBSCRIBE on the same Redis, the lower limit for any system \
            that uses it. Needs redis-server; keeps no data.
            """)

    @Option(help: "The number of signals to measure.")
    var signals = 1_000

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (1...1_000_000).contains(signals) else {
            throw ValidationError("--signals must be a number from 1 to 1000000")
        }
    }

    func run() async throws {
        try await Interruptible.run(as: "rollcall bench") { [signals, json] in
            let report = try await BenchSession(signals: signals).run()
            if json { try Output.json(report) } else { try Output.line(report.table) }
        }
    }
}
