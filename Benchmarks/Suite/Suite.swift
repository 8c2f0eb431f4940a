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

    private static let workloads: [any Workload] = [
        TypingLatency(people: 2), TypingLatency(people: 50),
        FanOut(people: 200, outstanding: 1), FanOut(people: 1_000, outstanding: 1),
        FanOut(people: 200, outstanding: 8), FanOut(people: 1_000, outstanding: 8),
        IdleMemory(devices: 15_000), IdleProcessor(devices: 15_000),
        ConnectStorm(devices: 5_000), Signals(count: 50_000),
        Snapshots(users: 1_000, way: .watch), Snapshots(users: 1_000, way: .http),
        LargeRoom(people: 1_000, typing: 300),
    ]

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes a number from 1 on") }
    }

    func run() async throws {
        OpenFileLimit.raise()
        var rows: [Row] = []
        say(Row.head, on: .standardOutput)
        for workload in Self.workloads where try selects(workload) {
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
