import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

/// When somebody was last there, on whichever way the device went.
@Suite struct LastSeenStories {
    private func alice(_ state: DeviceState = .active) -> (Stage, SessionKey) {
        var stage = Stage()
        let key = stage.enter("alice", state: state)
        stage.settle()
        stage.pass(.seconds(10))
        return (stage, key)
    }

    private func lastSeen(_ stage: Stage) -> Timestamp? { stage.redis.record(of: "alice").lastSeen }

    @Test("P5: a connection that fell silent was lost when its last byte came")
    func silence() {
        var (stage, key) = alice()
        let lastByte = stage.redis.time.advanced(by: .seconds(-7))
        stage.event { $0.disconnected(key, silence: .seconds(7), at: $1) }
        stage.settle()
        #expect(stage.redis.record(of: "alice").devices["phone"]?.lost == lastByte)
        stage.pass(.seconds(6))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.state == nil)
        #expect(lastSeen(stage) == lastByte, "the grace is nobody's presence")
    }

    /// Whoever judges its worker dead shows that it was there until then, and nobody is seen earlier than they were.
    @Test("a device that fell silent before an outage was not lost before its worker's last heartbeat")
    func silenceBeforeAnOutage() {
        var (stage, key) = alice()
        let lastBeat = stage.redis.time
        stage.redisGoes()
        stage.pass(.seconds(6))
        stage.event { $0.disconnected(key, silence: .seconds(8), at: $1) }
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.lost == lastBeat)
        stage.pass(.seconds(5))
        #expect(lastSeen(stage) == lastBeat)
    }

    /// It was seen when Redis came back, however long after.
    @Test("a device that was lost while Redis was away was seen until then")
    func lostWhileAway() {
        var (stage, key) = alice()
        stage.redisGoes()
        let lost = stage.redis.time
        stage.drop(key)
        stage.pass(.seconds(60))
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(stage.leftovers.isEmpty)
        #expect(lastSeen(stage) == lost)
    }

    @Test("a device in grace while Redis forgets all was seen until it was lost")
    func graceOverAnEmptiedRedis() {
        var (stage, key) = alice()
        let lost = stage.redis.time
        stage.drop(key)
        stage.settle()
        stage.redisGoes()
        stage.redis.flush()
        stage.pass(.seconds(2))
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.lost == lost)
        #expect(lastSeen(stage) == lost)
        stage.pass(.seconds(5))
        #expect(lastSeen(stage) == lost)
        #expect(stage.leftovers.isEmpty)
    }

    @Test("a device that said goodbye while Redis was away was seen until then")
    func goodbyeWhileAway() {
        var (stage, key) = alice(.idle)
        stage.redisGoes()
        let left = stage.redis.time
        stage.say(.goodbye, on: key)
        stage.pass(.seconds(60))
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(lastSeen(stage) == left)
    }

    @Test("a device in the background tells of nobody, by whichever way it goes", arguments: [true, false])
    func background(goodbye: Bool) {
        var (stage, key) = alice(.background)
        if goodbye { stage.say(.goodbye, on: key) } else { stage.drop(key) }
        stage.pass(.seconds(6))
        let device = stage.redis.record(of: "alice").devices["phone"]
        #expect(device?.state == nil && device?.lost == nil, "\(device.map { "\($0)" } ?? "no record")")
        #expect(stage.leftovers.isEmpty)
    }
}
