import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

/// The last-seen time, for each way in which a device can leave.
@Suite struct LastSeenStories {
    private func alice(_ state: DeviceState = .active) -> (Stage, Session) {
        let stage = Stage()
        let key = stage.enter("alice", state: state)
        stage.settle()
        stage.pass(.seconds(10))
        return (stage, key)
    }

    private func lastSeen(_ stage: Stage) -> Timestamp? { stage.redis.record(of: "alice").lastSeen }

    @Test("a silent connection counts as lost when its last byte arrived")
    func silence() {
        let (stage, key) = alice()
        let lastByte = stage.redis.time.advanced(by: .seconds(-7))
        stage.event { $0.disconnected(key, silence: .seconds(7), at: $1) }
        stage.settle()
        #expect(stage.redis.record(of: "alice").devices["phone"]?.lost == lastByte)
        stage.pass(.seconds(6))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.state == nil)
        #expect(lastSeen(stage) == lastByte, "the grace is nobody's presence")
    }

    /// Workers that treat its worker as dead show the user as present until then, and a last-seen time must not go
    /// back.
    @Test("a device that fell silent before an outage was lost no earlier than its worker's last heartbeat")
    func silenceBeforeAnOutage() {
        let (stage, key) = alice()
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

    /// Regression: the last-seen time was that of Redis's return, however much later.
    @Test("a device lost while Redis is away has that moment as its last-seen time")
    func lostWhileAway() {
        let (stage, key) = alice()
        stage.redisGoes()
        let lost = stage.redis.time
        stage.drop(key)
        stage.pass(.seconds(60))
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(stage.leftovers.isEmpty)
        #expect(lastSeen(stage) == lost)
    }

    @Test("if Redis loses its data during a device's grace period, the last-seen time is that of the lost connection")
    func graceOverAnEmptiedRedis() {
        let (stage, key) = alice()
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

    @Test("a goodbye while Redis is away is the last-seen time")
    func goodbyeWhileAway() {
        let (stage, key) = alice(.idle)
        stage.redisGoes()
        let left = stage.redis.time
        stage.say(.goodbye, on: key)
        stage.pass(.seconds(60))
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(lastSeen(stage) == left)
    }

    @Test("a device in the background does not change the last-seen time, however it leaves", arguments: [true, false])
    func background(goodbye: Bool) {
        let (stage, key) = alice(.background)
        if goodbye { stage.say(.goodbye, on: key) } else { stage.drop(key) }
        stage.pass(.seconds(6))
        let device = stage.redis.record(of: "alice").devices["phone"]
        #expect(device?.state == nil && device?.lost == nil, "\(device.map { "\($0)" } ?? "no record")")
        #expect(stage.leftovers.isEmpty)
    }
}
