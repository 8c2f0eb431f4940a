import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct PresenceStories {
    @Test("P9: a conversation joined with presence shows its members, those who come later too")
    func membersWatched() {
        var stage = Stage()
        stage.redis.setMembers(["alice": "Alice", "bob": "Bob"], of: "c42")
        let bob = stage.enter("bob")
        _ = stage.enter("alice")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        #expect(Set(stage.heard(by: bob).statuses) == ["alice online", "bob online"])
        stage.forgetWhatWasSaid()
        stage.redis.setMember("carol", name: "Carol", of: "c42")
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["carol offline"])
    }

    @Test("members who were replaced while nobody watched them are read anew for the next who does")
    func membersReplacedUnwatched() {
        var stage = Stage()
        stage.redis.setMembers(["alice": "Alice", "bob": "Bob"], of: "c42")
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.join("c42", presence: false), on: alice)
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        stage.say(.leave("c42"), on: bob)
        stage.redis.setMembers(["alice": "Alice", "carol": "Carol", "bob": "Bob"], of: "c42")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.join("c42", presence: true), on: bob)
        stage.settle()
        #expect(Set(stage.heard(by: bob).statuses) == ["alice online", "bob online", "carol offline"])
    }

    @Test("P1, P6: a watch gives the snapshot, of a user never seen too, its acknowledgement, then changes")
    func watch() {
        var stage = Stage()
        let (bob, alice) = (stage.enter("bob"), stage.enter("alice"))
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice", "nobody"]), id: "w", on: bob)
        #expect(stage.heard(by: bob).isEmpty)
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.statuses == ["alice online", "nobody offline"])
        #expect(heard.last == .ack("w"))
        stage.say(.state(.idle), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    /// A later version's worker published a status that this one does not know. It was passed over, and the user stayed
    /// as they had been before.

    @Test("a published change that cannot be read leads to a read, which says what it comes to here")
    func unreadableChange() {
        var stage = Stage()
        let (bob, alice) = (stage.enter("bob"), stage.enter("alice"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.state(.idle), on: alice)
        while !stage.asked.isEmpty { stage.answer() }
        stage.redis.published = []
        stage.event { shard, _ in
            shard.presenceUnreadable(of: "alice")
            shard.presenceUnreadable(of: "whom-nobody-watches")
            return []
        }
        #expect(stage.asked.count == 1)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    @Test("a change heard before the snapshot is not undone by it")
    func changeBeforeSnapshot() {
        var stage = Stage()
        let (bob, alice) = (stage.enter("bob"), stage.enter("alice"))
        stage.settle()
        stage.say(.watch(["alice"]), on: bob)
        stage.confirm()
        let read = stage.asked.removeFirst()
        let event = stage.reply(to: read)
        stage.pass(.milliseconds(2), answering: false)
        stage.say(.state(.idle), on: alice)
        stage.settle()
        stage.event(event)
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    @Test("the same watch again before the snapshot is answered by one snapshot, each message by its own ack")
    func watchTwice() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice"]), id: "1", on: bob)
        stage.say(.watch(["alice", "carol"]), id: "2", on: bob)
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.statuses == ["alice offline", "carol offline"])
        #expect(Set(heard.acks) == ["1", "2"])
    }

    @Test("unwatching while the snapshot is pending acknowledges both, and leaves nothing")
    func unwatchPending() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice"]), id: "w", on: bob)
        stage.say(.unwatch(["alice"]), id: "u", on: bob)
        #expect(stage.heard(by: bob).acks == ["w", "u"])
        stage.settle()
        #expect(stage.heard(by: bob).isEmpty)
        #expect(stage.shard.watches.count == 0)
    }

    @Test("the last watcher to go ends the subscription")
    func lastWatcher() {
        var stage = Stage()
        let (bob, carol) = (stage.enter("bob"), stage.enter("carol"))
        for key in [bob, carol] { stage.say(.watch(["alice"]), on: key) }
        stage.settle()
        stage.say(.unwatch(["alice"]), on: bob)
        #expect(stage.confirmed == [.presence("alice")])
        stage.drop(carol)
        #expect(stage.confirmed.isEmpty)
    }

    @Test("while Redis is away get is unavailable, and a watch is acknowledged when it is back")
    func away() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.say(.get(["alice"]), id: "g", on: bob)
        #expect(stage.heard(by: bob).errors == [.unavailable])
        stage.say(.watch(["alice"]), id: "w", on: bob)
        stage.pass(.seconds(3))
        #expect(stage.heard(by: bob).isEmpty)
        stage.redisReturns()
        stage.settle()
        #expect(stage.heard(by: bob).acks == ["w"])
    }

    @Test("a record that was removed from a Redis that lost nothing else counts after the next heartbeat")
    func removed() {
        var stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(60))
        stage.redis.records = [:]
        stage.subscriberGoes()
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        stage.heartbeat()
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("what a get was answered is not left standing when the watch learns otherwise")
    func getBesideWatch() {
        var stage = Stage()
        let bob = stage.enter("bob")
        let old = stage.redis.time
        stage.redis.records = ["alice": elsewhere("alice", old)]
        stage.others = [w2: old.advanced(by: .seconds(60))]
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        // Alice goes and comes while the subscriber's connection is lost; in between bob asks.
        stage.subscriberGoes()
        stage.redis.records["alice"] = elsewhere("alice", old.advanced(by: .seconds(1)), state: nil)
        stage.say(.get(["alice"]), on: bob)
        stage.answer()
        stage.redis.records["alice"] = elsewhere("alice", old.advanced(by: .seconds(2)))
        stage.settle()
        #expect(stage.heard(by: bob).statuses.last == "alice online")
    }

    @Test("a read that failed is asked again by a heartbeat, not by every tick")
    func failedRead() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.say(.watch(["alice"]), on: bob)
        stage.confirm()
        stage.failAll()
        stage.say(.ping, on: bob)
        #expect(stage.asked.isEmpty)
        stage.heartbeat()
        guard case .readPresence(["alice"], false, _)? = stage.asked.first else {
            return #expect(Bool(false), "not asked again: \(stage.asked)")
        }
    }
}
