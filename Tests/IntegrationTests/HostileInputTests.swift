// Every attack that anybody here could think of, on a real worker, with a decent session beside it. `make attacks` plays
// the same thousands of times.

import AttackSuite
import TestSupport
import Testing

@Suite("A stranger who means harm", .serialized)
struct HostileInputTests {
    @Test("is answered as the protocol says, and nobody else notices", arguments: [false, true])
    func strangers(signedTokens: Bool) async throws {
        let siege = try await Siege(signedTokens: signedTokens, settings: ["limits.hello": "1s"])
        for attack in Attack.all where attack.wantsSignedTokens == signedTokens && attack.crowd == nil {
            try await expectHarmless(siege.play(attack, times: 2))
        }
        #expect(try await siege.damage() == [])
    }

    // Some of them wait until the worker has lost its patience.
    @Test("in a crowd keeps nobody else out")
    func crowds() async throws {
        let siege = try await Siege(
            signedTokens: false, settings: ["limits.hello": "1s", "edge.ping": "500ms", "limits.message_rate": "20"])
        for attack in Attack.all where attack.crowd != nil {
            try await expectHarmless(siege.play(attack, times: 1))
        }
        #expect(try await siege.damage() == [])
    }

    private func expectHarmless(_ report: Siege.Report) throws {
        #expect(report.wrong == [:], "\(report.attack): \(report.outcomes)")
        #expect(!report.wasWitnessLost, "\(report.attack): the witness was lost")
        #expect(report.witness.quantile(1) < .seconds(5), "\(report.attack): the witness waited")
    }
}
