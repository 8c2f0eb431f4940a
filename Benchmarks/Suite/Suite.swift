// The whole suite: every workload and its floor, as a table and as JSON.

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

    private var workloads: [any TargetedWorkload] {
        [
            TypingLatency(people: 2, signals: 200), TypingLatency(people: 50, signals: 200),
            FanOut(people: 200, outstanding: 1, seconds: 2),
            FanOut(people: 1_000, outstanding: 1, seconds: 2),
            FanOut(people: 200, outstanding: 8, seconds: 2),
            FanOut(people: 1_000, outstanding: 8, seconds: 2),
            IdleMemory(devices: 15_000), IdleProcessor(devices: 15_000, seconds: 10),
            ConnectStorm(devices: 5_000), Signals(count: 50_000),
            Snapshots(users: 1_000, way: .watch), Snapshots(users: 1_000, way: .http),
            LargeRoom(people: 1_000, typing: 300, seconds: 60),
            ClusterSignals(primaries: 1, count: 50_000), ClusterSignals(primaries: 2, count: 50_000),
            ClusterSignals(primaries: 3, count: 50_000),
        ]
    }

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes a number from 1 on") }
    }

    func run() async throws {
        OpenFileLimit.raise()
        try await write(rows())
    }

    private func rows() async throws -> [Row] {
        say(Row.head, on: .standardOutput)
        var rows: [Row] = []
        for workload in workloads where try selects(workload.name) {
            var row = Row(name: workload.name, unit: workload.unit, target: workload.target)
            let samples = try await measure(workload)
            (row.floor, row.rollcall) = (samples[.floor] ?? [], samples[.rollcall] ?? [])
            say(row.line, on: .standardOutput)
            rows.append(row)
        }
        return rows
    }

    private func write(_ rows: [Row]) throws {
        guard let json else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(rows).write(to: URL(filePath: json))
    }

    /// Writes at once, even if the output is not a terminal.
    private func say(_ line: String, on output: FileHandle) {
        output.write(Data("\(line)\n".utf8))
    }

    private func selects(_ name: String) throws -> Bool {
        guard let only else { return true }
        return try name.contains(Regex(only))
    }

    /// Measures both sides in turns.
    private func measure(_ workload: any Workload) async throws -> [Stand.Side: [Sample]] {
        var ready: [(side: Stand.Side, measurable: any Measurable)] = []
        for side in Stand.Side.allCases {
            if let measurable = try await workload.prepare(side) { ready.append((side, measurable)) }
        }
        var samples: [Stand.Side: [Sample]] = [:]
        for round in 1...rounds {
            say("\(workload.name): round \(round) of \(rounds)", on: .standardError)
            for (side, measurable) in ready { samples[side, default: []].append(try await measurable.measure()) }
        }
        return samples
    }
}

/// A measurement failed.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
