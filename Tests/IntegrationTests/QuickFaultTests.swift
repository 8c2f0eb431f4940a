// Runs the short faults of the fault suite once each; `make faults` runs all of them many times.

import FaultSuite
import TestSupport
import Testing

@Suite("The short faults of the fault suite", .enabled(if: isSoaking))
struct QuickFaultTests {
    // A round that failed while the machine was busy is repeated, up to three times.
    @Test("every promise holds", .timeLimit(.minutes(6)))
    func promisesHold() async throws {
        let jobs = Fault.quick.map { Job($0, .short, on: .usual) }
        let runner = try Runner(jobs, rounds: 1) { print($0) }
        for row in await runner.run(width: 2) {
            for round in row.rounds { #expect(!round.isBroken, "\(row.fault): \(round.broken)") }
        }
    }
}
