import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct AuditStories {
    private let round = ShardSettings.auditCycle + .seconds(2)

    @Test("a correct record is read once a round, and nothing is written")
    func nothingAmiss() {
        let stage = Stage()
        for number in 0..<10 { _ = stage.enter("alice", DeviceID(stringLiteral: "device\(number)")) }
        stage.settle()
        let before = stage.redis.record(of: "alice")
        stage.pass(round)
        #expect(stage.redis.record(of: "alice") == before)
        #expect((10...11).contains(stage.shard.tally.auditRead) && stage.shard.tally.auditMended == 0)
    }

    @Test("what is missing or wrong is written again", arguments: ["record", "list", "state", "incarnation"])
    func mended(_ what: String) {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        let name = key.recorder!.name
        switch what {
        case "record": stage.redis.records = [:]
        case "list": stage.redis.listed = [:]
        case "state": stage.redis.records["alice"]?.devices["phone"]?.state = nil
        default: stage.redis.records["alice"]?.devices["phone"]?.incarnation = w2
        }
        stage.pass(round)
        let device = stage.redis.record(of: "alice").devices["phone"]
        #expect(device?.state == .active && device?.incarnation == stage.incarnation)
        #expect(stage.redis.listed[stage.incarnation!] == [name])
        #expect(stage.shard.tally.auditMended == 1)
    }

    @Test("a session whose device was taken over without notice is found and ended")
    func takenOver() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        var device = stage.redis.record(of: "alice").devices["phone"]!
        (device.session, device.incarnation) = (SessionID(random: "other"), w2)
        device.began = device.began.advanced(by: .seconds(1))
        stage.redis.records["alice"]?.devices["phone"] = device
        stage.pass(round)
        #expect(stage.closed[key] == .replaced && stage.shard.tally.auditMended == 0)
        #expect(stage.redis.record(of: "alice").devices["phone"] == device)
    }

    @Test("the result of an audit that a newer decision has overtaken repairs nothing")
    func overtaken() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        let recorder = key.recorder!
        let audited = AuditedSession(session: key, name: recorder.name, sequence: recorder.sequence)
        let found = DeviceStanding(record: stage.redis.record(of: "alice").devices["phone"], isListed: true)
        stage.say(.state(.idle), on: key)
        stage.settle()
        let incarnation = stage.incarnation!
        stage.event { $0.records.audited([audited], [found], of: incarnation, at: $1) }
        #expect(stage.asked.isEmpty && stage.shard.tally.auditMended == 0)
    }

    @Test("many sessions are spread over the round, and a pause is not made up for at once")
    func bounded() {
        let stage = Stage()
        for number in 0..<3000 { _ = stage.enter(UserID(stringLiteral: "user\(number)")) }
        stage.settle()
        stage.pass(.seconds(3))
        #expect((19...30).contains(stage.shard.tally.auditRead), "ten a second, from the first heartbeat on")
        let before = stage.shard.tally.auditRead
        stage.pass(.seconds(200), answering: false)
        stage.heartbeat()
        #expect(stage.shard.tally.auditRead - before == ShardSettings().bounds.auditBatch)
    }

    @Test("if records are spread over several servers, each heartbeat reads from all of them")
    func spread() {
        let stage = Stage(spreadSettings)
        for number in 0..<80 { _ = stage.enter(UserID(stringLiteral: "user\(number)")) }
        stage.settle()
        let before = stage.shard.tally.auditRead
        stage.pass(.seconds(2))
        #expect(stage.shard.tally.auditRead - before == 2 * ShardSettings.spreadAudit)
    }

    /// Regression: after `FLUSHALL` on a cluster, a device was offline until its audit. Its primary was emptied last,
    /// when the loss of the lease had already been noticed.
    @Test("if a server has lost all records, everything is written again instead of repairing single records")
    func forgotten() {
        let stage = Stage(spreadSettings)
        compare(4, on: stage) { $0 != 1 }
        #expect(stage.assertionsAsked == [.forgotten] && stage.shard.tally.auditMended == 0 && stage.asked.isEmpty)
    }

    @Test("if a server lacks one of several records, or the only one, that record alone is written again")
    func slip() {
        let stage = Stage(spreadSettings)
        var isFirst = true
        compare(4, on: stage) { place in
            defer { if place == 1 { isFirst = false } }
            return place != 1 || !isFirst
        }
        #expect(stage.assertionsAsked.isEmpty && stage.shard.tally.auditMended == 1 && stage.asked.count == 1)

        let one = Stage(spreadSettings)
        compare(1, on: one) { $0 != 1 }
        #expect(one.assertionsAsked.isEmpty && one.shard.tally.auditMended == 1 && one.asked.count == 1)
    }

    private var spreadSettings: ShardSettings {
        var settings = ShardSettings.uncoalesced
        settings.isSpread = true
        return settings
    }

    /// Audits this many users on each of two servers; `finds` says on which of them the records are found.
    private func compare(_ count: Int, on stage: Stage, finds: (_ place: Int) -> Bool) {
        let keys = (0..<2 * count).map { stage.enter(UserID(stringLiteral: "user\($0)")) }
        stage.settle()
        var sessions: [AuditedSession] = []
        var found: [DeviceStanding] = []
        for (number, key) in keys.enumerated() {
            let recorder = key.recorder!
            sessions.append(AuditedSession(session: key, name: recorder.name, sequence: recorder.sequence))
            let record = stage.redis.record(of: recorder.name.user).devices["phone"]
            found.append(
                DeviceStanding(record: finds(number % 2) ? record : nil, isListed: true, place: number % 2))
        }
        let incarnation = stage.incarnation!
        stage.event { $0.records.audited(sessions, found, of: incarnation, at: $1) }
    }
}
