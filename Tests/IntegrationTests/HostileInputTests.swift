// Runs every known attack on a real worker, with a well-behaved session next to it. `make attacks` runs each one
// thousands of times.

import AttackSuite
import Foundation
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

    @Test("causes no more work with a message than docs/limits.md allows", .enabled(if: isSoaking))
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

    @Test("cannot make a worker work with text that is costly to normalise, wherever it goes")
    func costlyText() async throws {
        let scales = try await Scales()
        for place in CostlyPlace.all {
            var excess = try await scales.excess(at: place, times: 1, overMarks: true)
            // Ten times as much, for what else a program that is not optimised does meanwhile; and again, for other work.
            for _ in 0..<8 where excess > 10 * CostlyPlace.most {
                excess = try await scales.excess(at: place, overMarks: true)
            }
            #expect(excess < 10 * CostlyPlace.most, "\(place): \(excess) µs")
        }
    }

    @Test("finds no field, claim, header, parameter, key or channel that the list of costly text lacks")
    func places() throws {
        func text(_ path: String) throws -> String {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            return try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        func names(_ pattern: String, in text: some StringProtocol) throws -> Set<String> {
            Set(
                String(text).matches(of: try Regex(pattern).anchorsMatchLineEndings()).compactMap {
                    $0.output[1].substring.map(String.init)
                })
        }
        let edge = try text("docs/asyncapi-edge.yaml")
        let fromClients = edge[..<(try #require(edge.range(of: "\n    welcome:")).lowerBound)]
        let redis = try text("docs/asyncapi-redis.yaml")
        let protocolKeys = try #require(try text("docs/redis-data.md").components(separatedBy: "## Keys").last)
            .components(separatedBy: "## Channels")[0].components(separatedBy: "An **incarnation**")[0]
        let admin = try text("docs/openapi.yaml")
        let documented: [(CostlyPlace.Kind, Set<String>)] = [
            (.field, try names(#"^          (\w+): [{]"#, in: fromClients)),
            (.channel, try names(#"^          (\w+):"#, in: redis.components(separatedBy: "\n  schemas:")[0])),
            (.key, try names(#"^\| ?`([^`]+)` ?\|"#, in: protocolKeys)),
            (
                .claim,
                try names(#"^\| ?`(\w+)`"#, in: text("docs/identity.md").components(separatedBy: "Other claims")[0])
            ),
            (.admin, try names(#"\bname: (\w+)(?:,|$)"#, in: admin)),
            (
                .header,
                try names(
                    #""([a-z-]+)""#,
                    in: text("Sources/RollcallServer/Edge/Handshake/Handshake.swift")
                        .components(separatedBy: "private static let read = [")[1].components(separatedBy: "]")[0])
            ),
        ]
        for (kind, wanted) in documented {
            let known = Set(CostlyPlace.all.filter { $0.kind == kind }.map(\.name))
            #expect(wanted.count > 4 && wanted.subtracting(known) == [], "\(kind)")
        }
    }

    private func expectHarmless(_ report: Siege.Report) throws {
        #expect(report.wrong == [:], "\(report.attack): \(report.outcomes)")
        #expect(!report.wasWitnessLost, "\(report.attack): the witness was lost")
        if isSoaking { #expect(report.witness.quantile(1) < .seconds(5), "\(report.attack): the witness waited") }
    }
}
