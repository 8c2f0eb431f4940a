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

    @Test("nobody is read before their channel is confirmed, and those who are by then are read together")
    func readsAfterConfirmation() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.say(.watch(["carol", "alice", "dave"]), on: bob)
        #expect(stage.asked.isEmpty && stage.unconfirmed.count == 3)
        stage.event { shard, now in
            ["dave", "carol"].flatMap { shard.subscribed(.presence($0), at: now) }
        }
        #expect(stage.asked.compactMap(\.usersRead) == [["carol", "dave"]])
        stage.event { $0.subscribed(.presence("alice"), at: $1) }
        #expect(stage.asked.compactMap(\.usersRead) == [["carol", "dave"], ["alice"]])
    }

    @Test("many are read in batches of a bounded size, and each batch is shown when it has come")
    func readsInBatches() {
        var settings = ShardSettings.uncoalesced
        settings.limits.watchedUsers = 10_000
        var stage = Stage(settings)
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        let users = (0..<2 * ShardSettings().bounds.readBatch + 1).map { UserID(stringLiteral: "u\($0)") }
        stage.say(.watch(users), id: "w", on: bob)
        stage.event { shard, now in users.flatMap { shard.subscribed(.presence($0), at: now) } }
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

    @Test("who could not be read is read again with the next heartbeat, and the others are shown at once")
    func readInPart() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice", "carol"]), id: "w", on: bob)
        stage.confirm()
        stage.confirm()
        while stage.asked.count > 1 { stage.answer() }
        let reading = stage.asked.removeFirst()
        #expect(reading.usersRead == ["carol"])
        var snapshot = stage.redis.presence(of: ["carol"], known: KnownWorkers())
        snapshot.records = []
        snapshot.unread = ["carol"]
        stage.event { [snapshot] shard, _ in shard.presenceRead(snapshot, isAuthoritative: false) }
        #expect(stage.heard(by: bob).statuses == ["alice offline"], "and the watch is not acknowledged yet")
        stage.pass(.seconds(1))
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.statuses == ["carol offline"] && heard.acks == ["w"])
    }

    @Test("whoever watches a user and gets them as well ends with what is true, also where changes are coalesced")
    func gotWhileCoalesced() {
        for comesBack in [true, false] {
            var stage = Stage(ShardSettings())
            let bob = stage.enter("bob")
            stage.say(.watch(["alice"]), on: bob)
            stage.settle()
            let phone = stage.enter("alice")
            stage.settle()
            #expect(stage.heard(by: bob).statuses == ["alice offline", "alice online"])
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
            #expect(
                stage.heard(by: bob).statuses == (comesBack ? ["alice online"] : ["alice online", "alice offline"]))
        }
    }

    @Test("a get answers what is true now where nothing changed lately, and its news comes before the answer")
    func gotAfterQuiet() {
        var stage = Stage(ShardSettings())
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

    @Test("a get of whom some could not be read is answered unavailable")
    func gotInPart() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.get(["alice", "carol"]), id: "g", on: bob)
        stage.asked = []
        let snapshot = PresenceSnapshot(records: [stage.redis.record(of: "alice")], unread: ["carol"])
        stage.event { shard, now in shard.gotPresence(snapshot, of: ["alice", "carol"], for: bob, id: "g", at: now) }
        let heard = stage.heard(by: bob)
        #expect(heard.statuses.isEmpty && heard.contains { if case .error = $0 { true } else { false } })
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

extension ShardAction {
    /// Who is read, of an action that reads.
    fileprivate var usersRead: [UserID]? {
        guard case .readPresence(let users, _, _) = self else { return nil }
        return users
    }
}
