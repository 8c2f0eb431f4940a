// Decisions of many sessions arrive in random order, some of them twice: the stored state, at every step, depends only
// on the decisions.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

/// A simple model of the rules: of a device's decisions, the one with the largest (MS, SEQ) is stored.
private struct Model {
    struct Decision: Hashable {
        var device: DeviceID
        var random: String
        var began: Int64
        var sequence: Int64
        var state: DeviceState?
    }

    var devices: [DeviceID: Decision] = [:]

    mutating func arrived(_ decision: Decision) -> DeviceWritten.Outcome {
        if let standing = devices[decision.device] {
            if standing.random == decision.random {
                if standing.sequence == decision.sequence { return .done }
                if standing.sequence > decision.sequence { return .late }
            } else if standing.began > decision.began {
                return .replaced
            }
        }
        devices[decision.device] = decision
        return .written
    }

    var status: PresenceStatus { PresenceStatus(of: devices.values.compactMap(\.state)) }
}

@Suite(.serialized) struct StoreRandomisedTests {
    @Test(arguments: (0..<8).map { printedSeed() &+ $0 })
    func whatStandsDependsOnTheDecisionsAlone(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let store = try await StoreUnderTest()
        let decisions = decisions(using: &random)

        for (round, name) in ["first", "second"].enumerated() {
            var model = Model()
            let user = user(name)
            var arrivals = decisions + decisions.shuffled(using: &random).prefix(10)
            arrivals.shuffle(using: &random)
            var last = try await store.record(of: user)
            for decision in arrivals {
                let written = try await store.write(write(decision, of: user))
                #expect(written.outcome == model.arrived(decision), "seed \(seed), round \(round)")
                let record = try await store.record(of: user)
                expect(record, follows: last, after: written.outcome, seed: seed)
                #expect(record.presence(past: [:]).status == model.status, "seed \(seed)")
                let status = try await store.hash("presence:{\(name)}")["status"] ?? "offline"
                #expect(status == model.status.rawValue, "seed \(seed)")
                last = record
            }
            #expect(standing(last) == model.devices, "seed \(seed), round \(round)")
            #expect(model.devices == best(of: decisions), "seed \(seed): the model itself depends on the order")
        }
    }

    private func expect(
        _ record: PresenceRecord, follows last: PresenceRecord, after outcome: DeviceWritten.Outcome, seed: UInt64
    ) {
        switch outcome {
        case .written:
            let isSeen = record.presence(past: [:]).look != last.presence(past: [:]).look
            #expect(isSeen ? record.version > last.version : record.version >= last.version, "seed \(seed)")
            #expect(record.lastSeen ?? .zero >= last.lastSeen ?? .zero, "seed \(seed)")
        case .done, .late, .replaced, .expired, .revoked:
            #expect(record.devices == last.devices && record.updatedAt == last.updatedAt, "seed \(seed)")
        }
    }

    private func decisions(using random: inout SeededGenerator) -> [Model.Decision] {
        var decisions: [Model.Decision] = []
        let states: [DeviceState?] = [.active, .idle, .background, nil]
        for device in [phone, tablet, device("laptop")] {
            for session in 1...3 {
                for sequence in 1...Int64.random(in: 1...4, using: &random) {
                    decisions.append(
                        Model.Decision(
                            device: device, random: "\(device)\(session)", began: 1000 + Int64(session),
                            sequence: sequence, state: states.randomElement(using: &random) ?? nil))
                }
            }
        }
        return decisions
    }

    private func write(_ decision: Model.Decision, of user: UserID) -> DeviceWrite {
        let began = Timestamp(milliseconds: decision.began)
        return Session(decision.random, user: user, device: decision.device, began: began)
            .says(decision.state, decision.sequence)
    }

    private func standing(_ record: PresenceRecord) -> [DeviceID: Model.Decision] {
        Dictionary(
            uniqueKeysWithValues: record.devices.map { device, stored in
                (
                    device,
                    Model.Decision(
                        device: device, random: stored.session.random, began: stored.began.milliseconds,
                        sequence: stored.sequence, state: stored.state)
                )
            })
    }

    private func best(of decisions: [Model.Decision]) -> [DeviceID: Model.Decision] {
        Dictionary(grouping: decisions, by: \.device).compactMapValues { decisions in
            decisions.max { ($0.began, $0.sequence) < ($1.began, $1.sequence) }
        }
    }
}

extension Timestamp {
    fileprivate static let zero = Timestamp(milliseconds: 0)
}
