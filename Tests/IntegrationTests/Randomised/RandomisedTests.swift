// A thousand random operations of twelve devices on three workers, from a seed: all observers must see the same,
// correct state.

import Foundation
import RollcallClient
import TestSupport
import Testing

@Suite("Random operations of twelve devices", .enabled(if: isSoaking), .timeLimit(.minutes(3)))
struct RandomisedTests {
    /// `SEED` in the environment repeats the operations of that seed.
    @Test("all observers, Redis and a simple model agree at each quiet moment")
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
            Issue.record("SEED=\(seed): \(error)\nlast operations:\n\(dozen.log.suffix(40).joined(separator: "\n"))")
        }
    }
}
