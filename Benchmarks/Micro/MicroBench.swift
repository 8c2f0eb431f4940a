// `micro-bench`: measures what the client costs an app, what messages cost both ends, and what a worker most often
// decides and reads, in nanoseconds and allocations. Allocations are the same on every machine, so CI compares them
// with a table.

import ArgumentParser
import CAllocations
import Foundation

@main
struct MicroBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "micro-bench",
        abstract: "Measure, in nanoseconds and allocations, what happens most often in the client and in a worker.")

    @Option(help: "Measure only that whose name this regular expression finds something in.")
    var only: String?

    @Option(help: ArgumentHelp("Measure briefly, and fail where this table allows less.", valueName: "file"))
    var check: String?

    func run() throws {
        if check != nil, !allocations_are_counted() {
            throw ValidationError("allocations are counted only where the C library is glibc")
        }
        var bench = try Bench(only: only, samples: check == nil ? 300 : 20)
        measureFloors(&bench)
        measureClient(&bench)
        measureCodec(&bench)
        measureWire(&bench)
        measurePaths(&bench)
        measureDecisions(&bench)
        if let check { try hold(bench, to: check) }
    }

    private func hold(_ bench: Bench, to file: String) throws {
        let thresholds = try Thresholds(text: String(contentsOfFile: file, encoding: .utf8))
        let complaints = thresholds.complaints(about: bench)
        print("")
        for complaint in complaints { print("\(file): \(complaint).") }
        for saving in thresholds.savings(of: bench) { print("\(file): \(saving).") }
        guard complaints.isEmpty else { throw ExitCode.failure }
        print("Nothing allocates more than \(file) allows.")
    }
}
