// `bench`: measures workers, those of another program and the floor in turns, so that a slow moment of the machine
// affects all of them.

import ArgumentParser
import Foundation
import Harness
import RollcallWorker

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure workers, another program's and a floor, in turns. Less is better.")

    @Option(help: "How many rounds of each workload are measured.")
    var rounds = 5

    @Option(help: "Measure only those whose name this regular expression finds.")
    var only: String?

    @Option(help: "Another `rollcall` program to measure too.")
    var against: String?

    private var workloads: [any Workload] {
        [
            Typing(people: 2), Typing(people: 50), PresenceChange(), Fetch(users: 50), Fetch(users: 1_000),
            FanOut(people: 200, typists: 1), FanOut(people: 1_000, typists: 1), FanOut(people: 200, typists: 8),
            FanOut(people: 1_000, typists: 8), Signals(), Entering(), Idle(devices: 15_000),
            CrowdedRoom(people: 10_000), Storm(devices: 5_000),
        ]
    }

    static let own = RollcallProgram.path

    func validate() throws {
        guard rounds > 0 else { throw ValidationError("--rounds takes a number from 1 on") }
        if let against, !FileManager.default.isExecutableFile(atPath: against) {
            throw ValidationError("--against \(against) is no program")
        }
    }

    func run() async throws {
        OpenFileLimit.raise()
        let filter = try only.map { try Regex($0) }
        let other = against == nil ? ("", "") : ("other | ", "---:|")
        say("| workload | figure | floor | \(other.0)Rollcall | × floor |", on: .standardOutput)
        say("|---|---|---:|\(other.1)---:|---:|", on: .standardOutput)
        for workload in workloads where filter.map({ workload.name.contains($0) }) ?? true {
            try await show(workload)
        }
    }

    private func show(_ workload: any Workload) async throws {
        let programs = [against, Self.own].compactMap { $0 }
        let sides = [Stand.Side.floor] + programs.map { .worker(program: $0) }
        var ready: [Stand.Side: any Measurable] = [:]
        for side in sides { ready[side] = try await workload.prepare(side) }
        var figures: [Stand.Side: [Figures]] = [:]
        for round in 1...rounds {
            say("\(workload.name): round \(round) of \(rounds)", on: .standardError)
            for side in sides {
                if let measurable = ready[side] { figures[side, default: []].append(try await measurable.measure()) }
            }
        }
        for (index, name) in (figures[sides[sides.count - 1]]?.first ?? [:]).keys.enumerated() {
            let values = sides.map { figures[$0]?.compactMap { $0[name] } ?? [] }
            let cells = values.map { $0.isEmpty ? "" : Self.text(median($0)) }
            // The median of each round's ratio.
            let ratio = zip(values[values.count - 1], values[0]).map { $0 / $1 }.filter(\.isFinite)
            let row = [index == 0 ? workload.name : "", name] + cells + [ratio.isEmpty ? "" : Self.text(median(ratio))]
            say("| " + row.joined(separator: " | ") + " |", on: .standardOutput)
        }
    }

    /// Writes at once, even if the output is not a terminal.
    private func say(_ line: String, on output: FileHandle) { output.write(Data("\(line)\n".utf8)) }

    private static func text(_ value: Double) -> String {
        value.formatted(.number.precision(.significantDigits(3)).grouping(.never))
    }
}

/// What one round found, by name and unit, in the order of the table.
typealias Figures = KeyValuePairs<String, Double>

extension Figures {
    subscript(name: String) -> Double? { first { $0.key == name }?.value }
    var keys: [String] { map(\.key) }
}

/// One thing to measure.
protocol Workload: Sendable {
    var name: String { get }

    /// Prepares a side.
    ///
    /// - Returns: `nil` if there is nothing to measure on this side.
    func prepare(_ side: Stand.Side) async throws -> (any Measurable)?
}

/// A side that can be measured repeatedly.
protocol Measurable {
    func measure() async throws -> Figures
}

/// A measurement failed.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

func median(_ values: [Double]) -> Double { percentile(0.5, of: values) }

/// The smallest value that this fraction (0 to 1) of all values do not exceed.
func percentile(_ part: Double, of values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .nan : sorted[max(0, Int((Double(sorted.count) * part).rounded(.up)) - 1)]
}
