import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite("The explanation of a status") struct ExplanationTests {
    private static let dead = Incarnation(name: "w9.dead")

    /// Returns the explanation for alice, whose record has these devices.
    private func explanation(
        _ devices: [DeviceID: DeviceRecord], stored: String? = "online", worker death: Duration = .seconds(3)
    ) throws -> Explanation {
        let stage = Stage()
        let own = try #require(stage.incarnation)
        let time = stage.redis.time
        stage.others = [w2: time.advanced(by: .seconds(4))]
        stage.heartbeat()
        let record = PresenceRecord(user: "alice", devices: devices, lastSeen: time, updatedAt: time, version: 9)
        let workers = [
            WorkerReport(incarnation: own, leaseEnd: time.advanced(by: .seconds(5))),
            WorkerReport(incarnation: w2, leaseEnd: time.advanced(by: .seconds(4))),
            WorkerReport(incarnation: Self.dead, leaseEnd: time.advanced(by: .zero - death)),
        ]
        let report = UserReport(
            record: record, storedStatus: stored.map(ByteString.init),
            workers: WorkersReport(time: time, workers: workers), revoked: nil)
        return stage.shard.explanation(of: report, at: stage.now)
    }

    private var time: Timestamp { Stage().redis.time }

    private func record(
        _ state: DeviceState?, of worker: Incarnation = w2, lost: Duration? = nil
    ) -> DeviceRecord {
        DeviceRecord(
            state: state, incarnation: worker, began: time, session: SessionID(random: "x"), sequence: 1,
            since: time.advanced(by: .seconds(-7)), lost: lost.map { time.advanced(by: .zero - $0) })
    }

    @Test("names the rule that decided, for each rule")
    func rules() throws {
        let cases: [([DeviceID: DeviceRecord], Explanation.Rule, String)] = [
            (["phone": record(.active), "tv": record(.idle)], .active, "online: phone is active on w2.b"),
            (
                ["phone": record(.active), "watch": record(.active)], .active,
                "online: phone is active on w2.b, and 1 more"
            ),
            (
                ["phone": record(.active, lost: .milliseconds(1200))], .activeInGrace,
                "online: phone was active when its connection was lost 1.2 s ago, and counts for 3.8 s more"
            ),
            (["tv": record(.idle), "watch": record(.background)], .idle, "away: tv is idle on w2.b"),
            (
                ["tv": record(.idle, lost: .seconds(2))], .idleInGrace,
                "away: tv was idle when its connection was lost 2.0 s ago, and counts for 3.0 s more"
            ),
            (["tv": record(.background)], .background, "offline: every device is in the background: tv"),
            (
                ["phone": record(.active, of: Self.dead)], .ownerDead,
                "offline: the only device is owned by w9.dead, whose lease passed 3.0 s ago; it will be swept"
            ),
            (
                ["phone": record(.active, of: Self.dead), "tv": record(.idle)], .idle, "away: tv is idle on w2.b"
            ),
            (["phone": record(nil)], .gone, "offline: every device has left; phone, 7.0 s ago, was the last"),
        ]
        for (devices, rule, text) in cases {
            let explanation = try explanation(devices)
            #expect(explanation.rule == rule)
            #expect(explanation.sentence == text)
        }
        #expect(try explanation([:], stored: nil).rule == .neverSeen)
    }

    @Test("says how each device counts, with those that have left at the end")
    func standings() throws {
        let explanation = try explanation([
            "a": record(nil), "b": record(.active), "c": record(.idle, lost: .seconds(1)),
            "d": record(.active, of: Self.dead),
        ])
        #expect(explanation.devices.map(\.device) == ["b", "c", "d", "a"])
        #expect(explanation.devices.map(\.standing) == [.connected, .inGrace, .ownerDead, .gone])
        #expect(explanation.presence.status == .online)
    }

    @Test("never has another status than readers are shown")
    func agrees() throws {
        let states: [DeviceRecord] = [
            record(.active), record(.idle), record(.background), record(nil), record(.active, lost: .seconds(1)),
            record(.active, of: Self.dead), record(.idle, of: Self.dead),
        ]
        for first in states {
            for second in states {
                let explanation = try explanation(["a": first, "b": second])
                #expect(explanation.sentence.hasPrefix(explanation.presence.status.rawValue + ": "))
                #expect(explanation.rule != .held)
            }
        }
    }

    /// Returns this shard's explanation for alice, from what Redis holds.
    private func explanation(by stage: Stage) throws -> Explanation {
        let record = stage.redis.record(of: "alice")
        let leases = stage.others.merging([try #require(stage.incarnation): .init(milliseconds: .max)]) { $1 }
        let report = UserReport(
            record: record, storedStatus: record.updatedAt.map { _ in "online" },
            workers: WorkersReport(
                time: stage.redis.time, workers: leases.map { WorkerReport(incarnation: $0.key, leaseEnd: $0.value) }),
            revoked: nil)
        return stage.shard.explanation(of: report, at: stage.now)
    }

    @Test("after Redis was away, says that an expired lease does not count yet, and later that it does")
    func unsettled() throws {
        let stage = Stage()
        _ = stage.bobWatchesAlice(elsewhereFor: .seconds(2))
        stage.redisGoes()
        stage.pass(.seconds(3))
        stage.redisReturns()
        stage.settle()
        let before = try explanation(by: stage)
        #expect(before.devices.map(\.standing) == [.unsettled])
        #expect(before.rule == .active && before.presence.status == .online)
        #expect(before.sentence == "online: tv is active on w2.b")
        stage.pass(.seconds(7))
        #expect(try explanation(by: stage).rule == .ownerDead)
    }

    @Test("after Redis was emptied, says that the previous status stays")
    func held() throws {
        let stage = Stage()
        _ = stage.bobWatchesAlice(elsewhereFor: .seconds(60))
        stage.redisGoes()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.settle()
        let held = try explanation(by: stage)
        #expect(held.rule == .held && held.presence.status == .online && held.devices.isEmpty)
        #expect(held.sentence.hasPrefix("online: Redis was away"))
    }
}
