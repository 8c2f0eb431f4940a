// The whole suite: every workload against its floor, as a table and as JSON.

import ArgumentParser
import Foundation
import RollcallWorker

@main
struct Suite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure workers against floors, in turns.")

    @Option(help: "How many rounds of each workload are measured.")
    var rounds = 5

    @Option(help: "Measure only those whose name this regular expression finds.")
    var only: String?

    @Option(help: "Write all figures to this file, as JSON.")
    var json: String?

    @Flag(help: "Play each workload small and short, to see that it works; its figures mean nothing.")
    var trial = false

    private var workloads: [any Workload] {
        let size = { (usual: Int) in trial ? max(10, usual / 50) : usual }
        let seconds = { (usual: Double) in trial ? usual / 20 : usual }
        return [
            TypingLatency(people: 2, signals: size(200)), TypingLatency(people: size(50), signals: size(200)),
            FanOut(people: size(200), outstanding: 1, seconds: seconds(2)),
            FanOut(people: size(1_000), outstanding: 1, seconds: seconds(2)),
            FanOut(people: size(200), outstanding: 8, seconds: seconds(2)),
            FanOut(people: size(1_000), outstanding: 8, seconds: seconds(2)),
            IdleMemory(devices: size(15_000)), IdleProcessor(devices: size(15_000), seconds: seconds(10)),
            ConnectStorm(devices: size(5_000)), Signals(count: size(50_000)),
            Snapshots(users: size(1_000), way: .watch), Snapshots(users: size(1_000), way: .http),
            LargeRoom(people: size(1_000), typing: size(300), seconds: seconds(60)),
        ]
    }

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes a number from 1 on") }
    }

    func run() async throws {
        OpenFileLimit.raise()
        var rows: [Row] = []
        say(Row.head, on: .standardOutput)
        for workload in workloads where try selects(workload) {
            let row = try await measure(workload)
            say(row.line, on: .standardOutput)
            rows.append(row)
        }
        guard let json else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(rows).write(to: URL(filePath: json))
    }

    /// At once, even where the output is no terminal.
    private func say(_ line: String, on output: FileHandle) {
        output.write(Data("\(line)\n".utf8))
    }

    private func selects(_ workload: any Workload) throws -> Bool {
        guard let only else { return true }
        return try workload.name.contains(Regex(only))
    }

    private func measure(_ workload: any Workload) async throws -> Row {
        var row = Row(name: workload.name, unit: workload.unit, target: workload.target)
        let floor = try await workload.prepare(.floor)
        let rollcall = try await workload.prepare(.rollcall)
        for round in 1...rounds {
            say("\(workload.name): round \(round) of \(rounds)", on: .standardError)
            if let sample = try await floor?.measure() { row.floor.append(sample) }
            if let sample = try await rollcall?.measure() { row.rollcall.append(sample) }
        }
        return row
    }
}

/// What was to be measured did not happen.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
