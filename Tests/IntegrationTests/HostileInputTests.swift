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

    // Some of them wait until the worker has lost its patience. The rate is more than the witness needs.
    @Test("in a crowd keeps nobody else out")
    func crowds() async throws {
        let siege = try await Siege(
            signedTokens: false, settings: ["limits.hello": "1s", "edge.ping": "2s", "limits.message_rate": "60"])
        for attack in Attack.all where attack.crowd != nil {
            try await expectHarmless(siege.play(attack, times: 1))
        }
        #expect(try await siege.damage() == [])
    }

    @Test("causes no more work with a message than docs/hostile-input.md says")
    func costs() async throws {
        let costs = try await Gallery().measure()
        for cost in costs { #expect(cost.excess(judgesTime: false) == [], "\(cost)") }
        #expect(costs.contains { $0.commands > 50 } && costs.contains { $0.bytes > 1 }, "nothing was measured")
    }

    @Test("is found out where a message costs others more than it may")
    func tooDear() async throws {
        let gallery = try await Gallery(settings: ["presence.coalesce": "0s"])
        let costs = try await gallery.measure([.toggledState])
        #expect(!costs[1].excess(judgesTime: false).isEmpty, "\(costs)")
    }

    private func expectHarmless(_ report: Siege.Report) throws {
        #expect(report.wrong == [:], "\(report.attack): \(report.outcomes)")
        #expect(!report.wasWitnessLost, "\(report.attack): the witness was lost")
        #expect(report.witness.quantile(1) < .seconds(5), "\(report.attack): the witness waited")
    }
}
