import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct PresenceStories {
    @Test("a conversation joined with presence shows its members, including those who are added later")
    func membersWatched() {
        let stage = Stage()
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

    @Test("members replaced while no session watched them are read again for the next session that does")
    func membersReplacedUnwatched() {
        let stage = Stage()
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

    @Test("a watch gives the snapshot, even for a user never seen, its acknowledgement, and then changes")
    func watch() {
        let stage = Stage()
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

    /// Regression: a worker of a later version published a status that this version does not know. It was ignored, and
    /// the user kept the previous status.

    @Test("a published change that cannot be parsed causes a read, which gives a known status")
    func unreadableChange() {
        let stage = Stage()
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
        }
        #expect(stage.asked.count == 1)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    @Test("many users are read in batches of bounded size, and each batch is shown when it arrives")
    func readsInBatches() {
        var settings = ShardSettings.uncoalesced
        settings.limits.watchedUsers = 10_000
        let stage = Stage(settings)
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        let users = (0..<2 * ShardSettings().bounds.readBatch + 1).map { UserID(stringLiteral: "u\($0)") }
        stage.say(.watch(users), id: "w", on: bob)
        stage.event { shard, now in users.forEach { shard.subscribed(.presence($0), at: now) } }
        #expect(
            stage.asked.compactMap(\.usersRead).map(\.count) == [
                ShardSettings().bounds.readBatch, ShardSettings().bounds.readBatch, 1,
            ])
        #expect(stage.asked.compactMap(\.usersRead).flatMap { $0 } == users, "in the order in which they were named")
        stage.answer()
        #expect(stage.heard(by: bob).statuses.count == ShardSettings().bounds.readBatch)
        stage.answer()
        stage.answer()
        let rest = stage.heard(by: bob)
        #expect(rest.statuses.count == ShardSettings().bounds.readBatch + 1 && rest.acks == ["w"])
    }

    @Test("a session that watches a user and gets them as well ends with the current state, even with coalescing")
    func gotWhileCoalesced() {
        for comesBack in [true, false] {
            let stage = Stage(ShardSettings())
            let bob = stage.enter("bob")
            stage.say(.watch(["alice"]), on: bob)
            stage.settle()
            let phone = stage.enter("alice")
            stage.settle()
            for state in [DeviceState.idle, .active, .idle, .active] {
                stage.say(.state(state), on: phone)
                stage.settle()
            }
            #expect(stage.heard(by: bob).statuses.last != "alice offline")
            stage.forgetWhatWasSaid()
            stage.pass(.milliseconds(80))
            stage.say(.goodbye, on: phone)
            stage.settle()
            stage.pass(.milliseconds(80))
            stage.say(.get(["alice"]), id: "g", on: bob)
            stage.settle()
            stage.pass(.milliseconds(80))
            if comesBack { _ = stage.enter("alice") }
            stage.settle()
            stage.pass(.seconds(2))
            let statuses = stage.heard(by: bob).statuses
            #expect(statuses.last == (comesBack ? "alice online" : "alice offline"), "\(statuses)")
        }
    }

    @Test("a get is answered with the current state if nothing changed lately, and changes are sent before the answer")
    func gotAfterQuiet() {
        let stage = Stage(ShardSettings())
        let (bob, alice) = (stage.enter("bob"), stage.enter("alice"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.pass(.seconds(2))
        stage.forgetWhatWasSaid()
        stage.say(.state(.idle), on: alice)
        while !stage.asked.isEmpty { stage.answer() }
        stage.say(.get(["alice"]), id: "g", on: bob)
        while !stage.asked.isEmpty { stage.answer() }
        #expect(stage.heard(by: bob).statuses == ["alice away", "alice away"], "it was not published yet")
    }

    @Test("a get is answered with unavailable if some users could not be read")
    func gotInPart() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.get(["alice", "carol"]), id: "g", on: bob)
        stage.asked = []
        let snapshot = PresenceSnapshot(records: [stage.redis.record(of: "alice")], unread: ["carol"])
        stage.event { shard, now in
            shard.watches.gotPresence(snapshot, of: ["alice", "carol"], for: bob, id: "g", at: now)
        }
        let heard = stage.heard(by: bob)
        #expect(heard.statuses.isEmpty && heard.contains { if case .error = $0 { true } else { false } })
    }

    @Test("a change received before the snapshot is not undone by it")
    func changeBeforeSnapshot() {
        let stage = Stage()
        let (bob, alice) = (stage.enter("bob"), stage.enter("alice"))
        stage.settle()
        stage.say(.watch(["alice"]), on: bob)
        stage.confirm()
        let read = stage.asked.removeFirst()
        let event = stage.reply(to: read)
        stage.pass(.milliseconds(2), answering: false)
        stage.say(.state(.idle), on: alice)
        stage.settle()
        stage.arrives(event)
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    @Test("a repeated watch before the snapshot gets one snapshot, and an ack for each message")
    func watchTwice() {
        let stage = Stage()
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

    @Test("an unwatch while the snapshot is pending acknowledges both, and leaves nothing")
    func unwatchPending() {
        let stage = Stage()
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

    @Test("the last watcher to leave ends the subscription")
    func lastWatcher() {
        let stage = Stage()
        let (bob, carol) = (stage.enter("bob"), stage.enter("carol"))
        for key in [bob, carol] { stage.say(.watch(["alice"]), on: key) }
        stage.settle()
        stage.say(.unwatch(["alice"]), on: bob)
        #expect(stage.confirmed == [.presence("alice")])
        stage.drop(carol)
        #expect(stage.confirmed.isEmpty)
    }

    @Test("while Redis is away, a get fails with unavailable, and a watch is acknowledged when it returns")
    func away() {
        let stage = Stage()
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

    /// An operator erases a user while the connection for messages is lost.
    @Test("a record that was removed while Redis lost nothing else counts after the next heartbeat")
    func removed() {
        let stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(60))
        stage.redis.records = [:]
        stage.subscriberGoes()
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        stage.heartbeat()
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("the answer to a get is corrected when the watch learns otherwise")
    func getBesideWatch() {
        let stage = Stage()
        let bob = stage.enter("bob")
        let old = stage.redis.time
        stage.redis.records = ["alice": elsewhere("alice", old)]
        stage.others = [w2: old.advanced(by: .seconds(60))]
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        // Alice leaves and returns while the subscriber's connection is lost; in between, Bob sends a get.
        stage.subscriberGoes()
        stage.redis.records["alice"] = elsewhere("alice", old.advanced(by: .seconds(1)), state: nil)
        stage.say(.get(["alice"]), on: bob)
        stage.answer()
        stage.redis.records["alice"] = elsewhere("alice", old.advanced(by: .seconds(2)))
        stage.settle()
        #expect(stage.heard(by: bob).statuses.last == "alice online")
    }

    @Test("a failed read is repeated by a heartbeat, not by every tick")
    func failedRead() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.say(.watch(["alice"]), on: bob)
        stage.confirm()
        stage.failAll()
        stage.say(.ping, on: bob)
        #expect(stage.asked.isEmpty)
        stage.heartbeat()
        #expect(stage.asked.map(\.usersRead) == [["alice"]])
    }
}

extension TwinStore.Asked {
    fileprivate var usersRead: [UserID]? {
        guard case .presence(let users, _) = request else { return nil }
        return users
    }
}
