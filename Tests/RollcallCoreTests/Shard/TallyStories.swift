import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct TallyStories {
    private func aliceAndBob() -> (Stage, Session, Session) {
        let stage = Stage()
        let alice = stage.enter("alice")
        let bob = stage.enter("bob")
        for key in [alice, bob] { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        return (stage, alice, bob)
    }

    @Test("signals are counted when they are received, deferred, and processed by Redis")
    func signals() {
        let (stage, alice, _) = aliceAndBob()
        for _ in 0..<3 { stage.say(.typing("c", true), on: alice) }
        stage.settle()
        #expect(stage.shard.tally.typingSignals == 3 && stage.shard.tally.typingThrottled == 2)
        #expect(stage.shard.tally.typingPublished == 1)
        stage.pass(.seconds(1))
        stage.say(.typing("c", false), on: alice)
        stage.settle()
        #expect(stage.shard.tally.typingSignals == 4 && stage.shard.tally.typingPublished == 3)
    }

    @Test("a change is reported once, however often it is renewed, with the time that it took")
    func deliveries() {
        let (stage, alice, _) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        #expect(stage.shard.typistCount == 1)
        #expect(stage.shard.tally.typingDeliveries.count == 1)
        stage.pass(.seconds(1))
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        #expect(stage.shard.tally.typingDeliveries.count == 1)
        stage.drop(alice)
        stage.settle()
        #expect(stage.shard.tally.typingDeliveries.count == 2 && stage.shard.typistCount == 0)
    }

    @Test("a session is open from its welcome to its end, and lingering until its record is settled")
    func sessions() {
        let stage = Stage()
        let alice = stage.enter("alice")
        stage.settle()
        #expect(stage.shard.openSessionCount == 1 && stage.shard.lingeringSessionCount == 0)
        stage.drop(alice)
        stage.settle()
        #expect(stage.shard.openSessionCount == 0 && stage.shard.lingeringSessionCount == 1)
        stage.pass(.seconds(6))
        #expect(stage.shard.lingeringSessionCount == 0)
    }

    @Test("the audit counts its rounds")
    func rounds() {
        let stage = Stage()
        for number in 0..<10 { _ = stage.enter("alice", DeviceID(stringLiteral: "device\(number)")) }
        stage.settle()
        #expect(stage.shard.tally.auditRounds == 0)
        stage.pass(ShardSettings.auditCycle * 2 + .seconds(60))
        #expect(stage.shard.tally.auditRounds == 2)
    }
}
