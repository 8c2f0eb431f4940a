import ArgumentParser

/// `rollcall bench`: measures how long typing takes from one device to another.
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure typing from device to device, over two workers and a private Redis.",
        discussion: """
            Each signal is measured from the write at one device to the whole frame at another, on another worker. \
            Beside it, in turns, a bare PUBLISH to a bare SUBSCRIBE on the same Redis: the least that any system over \
            it can reach. Needs redis-server; nothing is kept.
            """)

    @Option(help: "How many signals are measured.")
    var signals = 1_000

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (1...1_000_000).contains(signals) else {
            throw ValidationError("--signals takes a number from 1 to 1000000")
        }
    }

    func run() async throws {
        try await Interruptible.run(as: "rollcall bench") { [signals, json] in
            let report = try await BenchSession(signals: signals).run()
            if json { try Output.json(report) } else { try Output.line(report.table) }
        }
    }
}
