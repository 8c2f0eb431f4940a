import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct AuditStories {
    private let round = ShardSettings.auditCycle + .seconds(2)

    @Test("a record that is as it should be is read once a round, and nothing is written")
    func nothingAmiss() {
        var stage = Stage()
        for number in 0..<10 { _ = stage.enter("alice", DeviceID(stringLiteral: "device\(number)")) }
        stage.settle()
        let before = stage.redis.record(of: "alice")
        stage.pass(round)
        #expect(stage.redis.record(of: "alice") == before)
        #expect((10...11).contains(stage.shard.tally.auditRead) && stage.shard.tally.auditMended == 0)
    }

    @Test("what is missing or wrong is said again", arguments: ["record", "list", "state", "incarnation"])
    func mended(_ what: String) {
        var stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        let name = stage.shard.sessions[key]!.recorder!.name
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

    @Test("a session whose device another holds by now, of which no notice came, is found out")
    func takenOver() {
        var stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        var device = stage.redis.record(of: "alice").devices["phone"]!
        (device.session, device.incarnation) = (SessionID(random: "other"), w2)
        device.began = device.began.advanced(by: .seconds(1))
        stage.redis.records["alice"]?.devices["phone"] = device
        stage.pass(round)
        #expect(stage.closed[key] == .replaced)
        #expect(stage.redis.record(of: "alice").devices["phone"] == device)
    }

    @Test("an answer that a decision has overtaken mends nothing")
    func overtaken() {
        var stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        let recorder = stage.shard.sessions[key]!.recorder!
        let audited = AuditedSession(session: key, name: recorder.name, sequence: recorder.sequence)
        let found = DeviceStanding(record: stage.redis.record(of: "alice").devices["phone"], isListed: true)
        stage.say(.state(.idle), on: key)
        stage.settle()
        let incarnation = stage.incarnation!
        stage.event { $0.audited([audited], [found], of: incarnation, at: $1) }
        #expect(stage.asked.isEmpty && stage.shard.tally.auditMended == 0)
    }

    @Test("many sessions are spread over the round, and a pause is not made up for at once")
    func bounded() {
        var stage = Stage()
        for number in 0..<3000 { _ = stage.enter(UserID(stringLiteral: "user\(number)")) }
        stage.settle()
        stage.pass(.seconds(3))
        #expect((19...30).contains(stage.shard.tally.auditRead), "ten a second, from the first heartbeat on")
        let before = stage.shard.tally.auditRead
        stage.pass(.seconds(200), answering: false)
        stage.heartbeat()
        #expect(stage.shard.tally.auditRead - before == ShardSettings.auditBatch)
    }
}
