import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

/// What observers are shown of devices whose workers are dead, or may be.
@Suite struct JudgingStories {
    @Test("a device of a worker that was swept and deleted is not shown, even to the first observer")
    func forgotten() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline", "alice offline"])
        #expect(Set(stage.swept.map(\.item)) == [.session(session("alice", "tv", "x"))], "and it is swept")
    }

    @Test("a device of a worker that started after the last heartbeat counts")
    func justBegun() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(5))]
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        #expect(stage.swept.isEmpty)
    }

    @Test("while heartbeats fail, no worker is treated as dead, although every lease expires")
    func failingHeartbeats() {
        let stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(5))
        stage.pass(.seconds(6), answering: false)
        stage.subscriberGoes()
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
    }

    @Test("a user who is masked and then swept is reported offline once")
    func maskedThenSwept() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.diesHolding("alice")
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.statuses == ["alice offline"])
        _ = stage.redis.sweep([.session(session("alice", "tv", "x"))], of: w2, until: stage.redis.time)
        #expect(stage.redis.record(of: "alice").lastSeen == heard.lastSeen)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    @Test("a read from before the channel was lost is repeated, since both may miss later changes")
    func readAcrossLoss() {
        let stage = Stage()
        let (bob, alice) = (stage.enter("bob"), stage.enter("alice"))
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice"]), on: bob)
        stage.confirm()
        let read = stage.asked.removeFirst()
        let event = stage.reply(to: read)
        stage.subscriberGoes()
        stage.say(.state(.idle), on: alice)
        stage.answer()
        stage.redis.published = []
        stage.arrives(event)
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }
}

extension [ServerMessage] {
    fileprivate var lastSeen: Timestamp? {
        compactMap { message -> Timestamp? in
            guard case .presence(let users, _) = message else { return nil }
            return users.last?.lastSeen
        }.last
    }
}
