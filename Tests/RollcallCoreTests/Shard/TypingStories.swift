import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct TypingStories {
    /// Alice and Bob, both in `c`, before any typing.
    private func aliceAndBob(_ settings: ShardSettings = .uncoalesced) -> (Stage, Session, Session) {
        let stage = Stage(settings)
        let alice = stage.enter("alice")
        let bob = stage.enter("bob")
        for key in [alice, bob] { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        return (stage, alice, bob)
    }

    @Test("typing is shown to the other user, and ends when its expiry passes")
    func expiry() {
        let (stage, alice, bob) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).typists == [["alice"]])
        stage.pass(.milliseconds(2999))
        #expect(stage.heard(by: bob).isEmpty)
        stage.pass(.milliseconds(1))
        #expect(stage.heard(by: bob).typists == [[]])
        #expect(stage.heard(by: alice).isEmpty)
    }

    @Test("changes that cannot be parsed cause one read per tick, which says who types")
    func unreadableChanges() {
        let (stage, alice, bob) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        while !stage.asked.isEmpty { stage.answer() }
        stage.redis.published = []
        stage.event { shard, _ in
            for _ in 0..<3 { shard.typingUnreadable(in: "c") }
            shard.typingUnreadable(in: "elsewhere")
        }
        #expect(stage.asked.count == 1)
        stage.settle()
        #expect(stage.heard(by: bob).typists == [["alice"]])
    }

    @Test("a signal that is lost on its way is answered like one that meets a known outage, with or without an id")
    func lostInFlight() {
        let (stage, alice, _) = aliceAndBob()
        for id in [MessageID?.none, "t"] {
            stage.say(.typing("c", true), id: id, on: alice)
            stage.failAll()
            #expect(stage.heard(by: alice).errors == [.unavailable])
            stage.pass(.seconds(4))
        }
        stage.redisGoes()
        stage.say(.typing("c", true), on: alice)
        #expect(stage.heard(by: alice).errors == [.unavailable])
    }

    @Test("a signal that the throttle held back was acknowledged, and is not answered again if it is lost")
    func heldBackAndLost() {
        let (stage, alice, _) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        stage.pass(.milliseconds(100))
        stage.say(.typing("c", true), id: "t", on: alice)
        #expect(stage.heard(by: alice).acks == ["t"])
        stage.pass(.seconds(2), answering: false)
        #expect(stage.asked.count == 1)
        stage.failAll()
        #expect(stage.heard(by: alice).isEmpty)
    }

    /// Redis does not know the signal's script, or the slot moves: the signal is sent again after its stop.
    @Test(
        "a signal that takes effect after its own stop is stopped again, also if the device has left",
        arguments: [false, true])
    func overtaken(hasLeft: Bool) {
        let (stage, alice, bob) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.say(hasLeft ? .leave("c") : .typing("c", false), on: alice)
        #expect(stage.asked.count == 2)
        stage.asked.swapAt(0, 1)
        stage.settle()
        #expect(stage.heard(by: bob).typists.last == [])
        #expect(stage.shard.typing.stopCount == 0)
    }

    @Test("a signal that takes effect before its stop is stopped once")
    func stoppedOnce() {
        let (stage, alice, _) = aliceAndBob()
        stage.forgetWrites()
        stage.say(.typing("c", true), on: alice)
        stage.say(.typing("c", false), on: alice)
        stage.settle()
        #expect(stage.writes == ["typing": 1, "stop": 1])
    }

    @Test("signals sooner than the throttle are deferred, acknowledged at once, and keep the typing up")
    func throttle() {
        let (stage, alice, bob) = aliceAndBob()
        for number in 0..<20 {
            stage.say(.typing("c", true), id: .integer(Int64(number)), on: alice)
            stage.pass(.milliseconds(250))
        }
        #expect(stage.heard(by: alice).acks.count == 20)
        #expect((5...6).contains(stage.signals.count))
        stage.pass(.seconds(2))
        #expect(stage.heard(by: bob).typists.allSatisfy { $0 == ["alice"] })
        stage.pass(.seconds(2))
        #expect(stage.heard(by: bob).typists == [[]])
    }

    /// Regression: each start after a `leave` and a `join` was published at once, and its stop with the next `leave`.
    /// This caused 33 frames per second to all sessions in the conversation.
    @Test("a user who leaves and joins again types no more often than the throttle allows")
    func leaveAndJoin() {
        let (stage, alice, bob) = aliceAndBob()
        for _ in 0..<100 {
            stage.say(.typing("c", true), on: alice)
            stage.settle()
            stage.say(.leave("c"), on: alice)
            stage.say(.join("c", presence: false), on: alice)
            stage.settle()
            stage.pass(.milliseconds(30))
        }
        let count = stage.heard(by: bob).typists.count
        #expect((2...8).contains(count), "\(count) messages in three seconds")
        stage.say(.typing("c", true), on: alice)
        stage.pass(.seconds(1))
        #expect(stage.heard(by: bob).typists.last == ["alice"])
    }

    @Test("a stop is sent at once, and cancels the deferred signal")
    func stop() {
        let (stage, alice, bob) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.say(.typing("c", true), on: alice)
        stage.say(.typing("c", false), id: "stop", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).acks == ["stop"])
        stage.pass(.seconds(5))
        #expect(stage.signals.count == 1)
        #expect(stage.heard(by: bob).typists == [["alice"], []])
    }

    @Test(
        "an unchanged set is repeated after the expiry, even if it is only known from its snapshot")
    func repeats() {
        let (stage, alice, bob) = aliceAndBob()
        stage.say(.leave("c"), on: bob)
        stage.say(.leave("c"), on: alice)
        stage.settle()
        let elsewhere = { (stage: Stage) in
            let expiry = stage.redis.time.advanced(by: .seconds(3))
            _ = stage.redis.signalTyping(
                TypingSignal(user: "dave", device: "d", conversation: "c", expiry: expiry), isOpen: true)
        }
        elsewhere(stage)
        stage.say(.join("c", presence: false), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        for _ in 0..<7 {
            stage.pass(.seconds(1))
            elsewhere(stage)
            stage.settle()
        }
        #expect(stage.heard(by: bob).typists == [["dave"], ["dave"]])
    }

    @Test("a user who types on and off is sent repetitions of others' typing like all users")
    func repeatsToTypist() {
        let (stage, alice, bob) = aliceAndBob()
        for second in 0..<8 {
            stage.say(.typing("c", true), on: alice)
            stage.say(.typing("c", second % 2 == 0), on: bob)
            stage.settle()
            if second == 0 { stage.forgetWhatWasSaid() }
            stage.pass(.seconds(1))
        }
        // Bob's own typing starts and stops for others, but Bob sees the same set.
        #expect(stage.heard(by: bob).typists == [["alice"], ["alice"]])
    }

    @Test("an expiry and a repetition at the same time send only the end")
    func expiryIsNotRepeated() {
        let (stage, alice, bob) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        // The shard alone, without the stop from Redis.
        stage.pass(.seconds(3), answering: false)
        #expect(stage.heard(by: bob).typists == [[]])
    }

    @Test("names are sent with the typing; ten are named, all are counted, and more than ten are coalesced")
    func coalescing() {
        let stage = Stage()
        stage.redis.setMembers(
            Dictionary(uniqueKeysWithValues: (0..<12).map { (try! UserID("u\($0)"), "N\($0)") }), of: "c")
        let keys = (0..<12).map { stage.enter(try! UserID("u\($0)")) }
        for key in keys { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        for key in keys {
            stage.say(.typing("c", true), on: key)
            stage.settle()
        }
        // The twelfth user sees the first ten at once, and the eleventh with the next period.
        var seen = stage.heard(by: keys[11])
        #expect(seen.typists.count == 10)
        stage.pass(.milliseconds(250))
        seen = stage.heard(by: keys[11])
        guard case .typing(let typing)? = seen.first else { return #expect(Bool(false), "nothing told") }
        #expect(typing.count == 11)
        #expect(typing.users.map(\.name) == (0..<10).map { "N\($0)" })
    }

    @Test("a user removed without notice is out, even if the first read failed; all users are read at once")
    func removedUnheard() {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.redis.setMembers(["alice": "Alice", "bob": "Bob"], of: "c")
        for key in [alice, bob] { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.subscriberGoes()
        stage.redis.setMembers(["alice": "Alice"], of: "c")
        stage.redis.published = []
        for _ in 0..<2 { stage.confirm() }
        let reads = stage.asked.indices.filter { if case .room = stage.asked[$0].request { true } else { false } }
        #expect(reads.count == 1)
        stage.fail(stage.asked.remove(at: reads[0]))
        stage.heartbeat()
        stage.settle()
        #expect(stage.heard(by: bob).contains(.removed("c")))
    }

    @Test("typing received before an older removal ends with it, although the user is a member again")
    func removedByOldNews() {
        let stage = Stage()
        stage.redis.setMembers(["alice": "Alice", "bob": "Bob"], of: "c")
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        for key in [alice, bob] { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redis.removeMember("alice", of: "c")
        stage.redis.setMember("alice", name: "Alice", of: "c")
        stage.say(.typing("c", true), on: alice)
        stage.answer()
        stage.settle()
        #expect(stage.heard(by: alice) == [.removed("c")])
        #expect(stage.heard(by: bob).typists.last == [])
        #expect(stage.redis.room("c", users: [], withTyping: true, mostMembers: 0).typists.isEmpty)
    }

    @Test("a member's new name is sent while they type")
    func renamed() {
        let (stage, alice, bob) = aliceAndBob()
        stage.redis.setMembers(["alice": "Alice", "bob": "Bob"], of: "c")
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redis.setMember("alice", name: "Alicia", of: "c")
        stage.settle()
        #expect(
            stage.heard(by: bob)
                == [.typing(.init(conversation: "c", users: [Typist(user: "alice", name: "Alicia")], count: 1))])
    }

    @Test("a change that was in flight for long shows no user whose typing is over")
    func late() {
        let (stage, alice, bob) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.answer()
        stage.pass(.seconds(4), answering: false)
        stage.forgetWhatWasSaid()
        stage.hear()
        #expect(stage.heard(by: bob).typists.isEmpty)
    }

    @Test("whatever ends typing is acknowledged when the stop is published, even if another message sent the stop")
    func acknowledgedOncePublished() {
        let (stage, alice, _) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.typing("c", false), on: alice)
        stage.say(.typing("c", false), id: "stop", on: alice)
        stage.say(.leave("c"), id: "leave", on: alice)
        stage.say(.join("c", presence: false), id: "join", on: alice)
        stage.say(.typing("c", false), id: "again", on: alice)
        #expect(stage.heard(by: alice).acks.isEmpty)
        guard let stop = stage.asked.firstIndex(where: { if case .stopTyping = $0.request { true } else { false } })
        else {
            Issue.record("nothing was stopped")
            return
        }
        stage.answer(stage.asked.remove(at: stop))
        #expect(stage.heard(by: alice).acks == ["stop", "leave", "again"])
        stage.settle()
        #expect(stage.heard(by: alice).acks == ["join"])
        #expect(stage.leftovers["pending stops"] == nil)
        stage.say(.typing("c", false), id: "nothing to stop", on: alice)
        #expect(stage.heard(by: alice).acks == ["nothing to stop"])
    }

    @Test("a stop that fails is not acknowledged to any session until it is published")
    func notConfirmed() {
        let (stage, alice, _) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.typing("c", false), id: "stop", on: alice)
        stage.say(.leave("c"), id: "leave", on: alice)
        stage.failAll()
        #expect(stage.heard(by: alice).errors == [.unavailable, .unavailable])
        stage.say(.leave("c"), id: "again", on: alice)
        #expect(stage.heard(by: alice).errors == [.unavailable])
        stage.redisReturns()
        stage.say(.leave("c"), id: "on its way", on: alice)
        #expect(stage.heard(by: alice).acks.isEmpty)
        stage.settle()
        #expect(stage.heard(by: alice).acks == ["on its way"])
        #expect(stage.leftovers["pending stops"] == nil)
    }

    @Test("while Redis is away, a start fails with unavailable, and a stop is kept until its expiry")
    func redisAway() {
        let (stage, alice, _) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.say(.typing("c", true), id: "start", on: alice)
        stage.say(.typing("c", false), id: "stop", on: alice)
        stage.settle()
        #expect(stage.heard(by: alice).errors == [.unavailable, .unavailable])
        stage.pass(.seconds(1))
        stage.redisReturns()
        #expect(stage.asked.contains { if case .stopTyping = $0.request { true } else { false } })
        stage.settle()
        #expect(stage.redis.room("c", users: [], withTyping: true, mostMembers: 0).typists.isEmpty)
    }

    @Test("a stop is kept no longer than the typing could last")
    func owedTooLong() {
        let (stage, alice, _) = aliceAndBob()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        stage.redisGoes()
        stage.say(.typing("c", false), on: alice)
        stage.settle()
        stage.pass(.seconds(4))
        stage.redisReturns()
        #expect(!stage.asked.contains { if case .stopTyping = $0.request { true } else { false } })
    }
}
