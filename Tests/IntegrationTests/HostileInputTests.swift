// Runs every known attack on a real worker, with a well-behaved session next to it. `make attacks` runs each one
// thousands of times.

import AttackSuite
import TestSupport
import Testing

@Suite("An attacker", .serialized)
struct HostileInputTests {
    @Test("gets the answers that the protocol defines, without effect on others", arguments: [false, true])
    func strangers(signedTokens: Bool) async throws {
        let siege = try await Siege(signedTokens: signedTokens, settings: ["limits.hello": "1s"])
        for attack in Attack.all where attack.wantsSignedTokens == signedTokens && attack.crowd == nil {
            try await expectHarmless(siege.play(attack, times: 2))
        }
        #expect(try await siege.damage() == [])
    }

    // Some attacks wait for the worker's time limits. The message rate is higher than the witness needs.
    @Test("with many connections keeps no other client out", .enabled(if: isSoaking))
    func crowds() async throws {
        let siege = try await Siege(
            signedTokens: false, settings: ["limits.hello": "1s", "edge.ping": "2s", "limits.message_rate": "60"])
        for attack in Attack.all where attack.crowd != nil {
            try await expectHarmless(siege.play(attack, times: 1))
        }
        #expect(try await siege.damage() == [])
    }

    @Test("causes no more work with a message than docs/hostile-input.md allows", .enabled(if: isSoaking))
    func costs() async throws {
        let costs = try await Gallery().measure()
        for cost in costs { #expect(cost.excess(judgesTime: false) == [], "\(cost)") }
        #expect(costs.contains { $0.commands > 50 } && costs.contains { $0.bytes > 1 }, "nothing was measured")
    }

    @Test("is detected if a message costs others more than it may", .enabled(if: isSoaking))
    func tooDear() async throws {
        let gallery = try await Gallery(settings: ["presence.coalesce": "0s"])
        let costs = try await gallery.measure([.toggledState])
        #expect(!costs[1].excess(judgesTime: false).isEmpty, "\(costs)")
    }

    private func expectHarmless(_ report: Siege.Report) throws {
        #expect(report.wrong == [:], "\(report.attack): \(report.outcomes)")
        #expect(!report.wasWitnessLost, "\(report.attack): the witness was lost")
        if isSoaking { #expect(report.witness.quantile(1) < .seconds(5), "\(report.attack): the witness waited") }
    }
}
