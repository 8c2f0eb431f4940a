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

    @Flag(help: "Play each workload small and short, to see that it works; its figures mean nothing.")
    var trial = false

    @Flag(help: "Measure how cost grows with what there is more of, instead of beside floors.")
    var growth = false

    private func size(_ usual: Int) -> Int { trial ? max(10, usual / 50) : usual }
    private func seconds(_ usual: Double) -> Double { trial ? usual / 20 : usual }

    private var workloads: [any TargetedWorkload] {
        [
            TypingLatency(people: 2, signals: size(200)), TypingLatency(people: size(50), signals: size(200)),
            FanOut(people: size(200), outstanding: 1, seconds: seconds(2)),
            FanOut(people: size(1_000), outstanding: 1, seconds: seconds(2)),
            FanOut(people: size(200), outstanding: 8, seconds: seconds(2)),
            FanOut(people: size(1_000), outstanding: 8, seconds: seconds(2)),
            IdleMemory(devices: size(15_000)), IdleProcessor(devices: size(15_000), seconds: seconds(10)),
            ConnectStorm(devices: size(5_000)), Signals(count: size(50_000)),
            Snapshots(users: size(1_000), way: .watch), Snapshots(users: size(1_000), way: .http),
            LargeRoom(people: size(1_000), typing: size(300), seconds: seconds(60)),
            ClusterSignals(primaries: 1, count: size(50_000)), ClusterSignals(primaries: 2, count: size(50_000)),
            ClusterSignals(primaries: 3, count: size(50_000)),
        ]
    }

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes a number from 1 on") }
    }

    func run() async throws {
        OpenFileLimit.raise()
        if growth {
            try await write(growthRows())
        } else {
            try await write(rows())
        }
    }

    private func rows() async throws -> [Row] {
        say(Row.head, on: .standardOutput)
        var rows: [Row] = []
        for workload in workloads where try selects(workload.name) {
            var row = Row(name: workload.name, unit: workload.unit, target: workload.target)
            let samples = try await measure(workload, on: Stand.Side.allCases)
            (row.floor, row.rollcall) = (samples[.floor] ?? [], samples[.rollcall] ?? [])
            say(row.line, on: .standardOutput)
            rows.append(row)
        }
        return rows
    }

    private func growthRows() async throws -> [GrowthRow] {
        say(GrowthRow.head, on: .standardOutput)
        var rows: [GrowthRow] = []
        for growth in Growth.all(size, seconds) where try selects("\(growth.of): \(growth.what)") {
            var row = GrowthRow(of: growth.of, what: growth.what, unit: growth.steps[0].workload.unit)
            for (size, workload) in growth.steps {
                let samples = try await measure(workload, on: [.rollcall])
                row.steps.append(.init(size: size, samples: samples[.rollcall] ?? []))
            }
            say(row.line, on: .standardOutput)
            rows.append(row)
        }
        return rows
    }

    private func write(_ rows: some Encodable) throws {
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
    private func measure(_ workload: any Workload, on sides: [Stand.Side]) async throws -> [Stand.Side: [Sample]] {
        var ready: [(side: Stand.Side, measurable: any Measurable)] = []
        for side in sides {
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
