// A thousand things that a dozen devices do over three workers, by chance from a seed: whatever they are, everybody
// sees the same and the right thing.

import Foundation
import RollcallClient
import TestSupport
import Testing

@Suite("Whatever a dozen devices do", .timeLimit(.minutes(3)))
struct RandomisedTests {
    /// `SEED` in the environment runs the operations of that seed again.
    @Test("every observer, Redis and a simple model agree at each quiet moment")
    func everybodyAgrees() async throws {
        let seed = printedSeed("the dozen devices")
        let dozen = try await Dozen(seed: seed)
        do {
            for operation in 1...1000 {
                try await dozen.doSomething()
                if operation % 20 == 0 { try await dozen.agree(after: operation) }
            }
            try await dozen.leave()
        } catch {
            Issue.record("SEED=\(seed): \(error)\nwhat was done last:\n\(dozen.log.suffix(40).joined(separator: "\n"))")
        }
    }
}
