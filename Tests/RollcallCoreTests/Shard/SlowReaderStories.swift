import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

/// Readers that are slower than the changes: they get the newest state later, and others are unaffected.
@Suite struct SlowReaderStories {
    /// Bob and Carol watch these unknown users, and have read everything that was sent.
    private func watching(
        _ users: [UserID] = ["alice"], _ settings: ShardSettings = .uncoalesced
    ) -> (Stage, bob: Session, carol: Session) {
        let stage = Stage(settings)
        let (bob, carol) = (stage.enter("bob"), stage.enter("carol"))
        for key in [bob, carol] { stage.say(.watch(users), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        return (stage, bob, carol)
    }

    private func people(_ count: Int) -> [UserID] { (0..<count).map { number in try! UserID("u\(1000 + number)") } }

    @Test("a user who looks the same again is not sent again")
    func nothingNew() {
        let (stage, bob, _) = watching(["alice", "dave"])
        stage.stall(bob)
        stage.become(.online, ["alice", "dave"])
        stage.become(.offline, ["alice"])
        stage.read(bob)
        #expect(stage.heard(by: bob).statuses == ["dave online"])
        #expect(stage.shard.tally.conflated == 2)
    }

    @Test("a slow reader is shown who types when it has caught up, even if nothing is repeated meanwhile")
    func typing() {
        let stage = Stage()
        let (bob, carol, dave) = (stage.enter("bob"), stage.enter("carol"), stage.enter("dave"))
        for key in [bob, carol, dave] { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.stall(bob)
        stage.say(.typing("c", true), on: carol)
        stage.settle()
        stage.say(.typing("c", true), on: dave)
        stage.settle()
        stage.say(.typing("c", false), on: carol)
        stage.settle()
        #expect(stage.heard(by: carol).typists == [["dave"]])
        #expect(stage.heard(by: bob).isEmpty)
        stage.read(bob)
        #expect(stage.heard(by: bob).typists == [["dave"]])
        #expect(stage.shard.tally.conflated == 2)
    }

    @Test("a session's own typing is not part of the state that it is sent later")
    func ownTyping() {
        let stage = Stage()
        let (bob, carol) = (stage.enter("bob"), stage.enter("carol"))
        for key in [bob, carol] { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.stall(bob)
        for key in [bob, carol] { stage.say(.typing("c", true), on: key) }
        stage.settle()
        stage.read(bob)
        #expect(stage.heard(by: bob).typists == [["carol"]])
    }

    @Test("answers are sent at once")
    func answers() {
        let (stage, bob, _) = watching()
        stage.redis.setMembers(["bob": "Bob"], of: "c")
        stage.say(.join("c", presence: false), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.stall(bob)
        stage.say(.ping, on: bob)
        stage.say(.state(.idle), id: "state", on: bob)
        stage.say(.typing("elsewhere", true), id: "typing", on: bob)
        stage.redis.setMembers([:], of: "c")
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.acks == ["state"] && heard.errors == [.notJoined])
        #expect(heard.contains(.removed("c")) && heard.contains(.pong(time: stage.redis.time)))
    }

    @Test("what a slow reader subscribes to is shown, and acknowledged, when it has caught up")
    func askedWhileBehind() {
        let (stage, bob, _) = watching()
        stage.stall(bob)
        stage.say(.watch(["dave"]), id: "watch", on: bob)
        stage.say(.join("c", presence: false), id: "join", on: bob)
        stage.say(.join("d", presence: false), id: "forget it", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).isEmpty)
        stage.say(.leave("d"), id: "leave", on: bob)
        stage.settle()
        // What was queued before is still queued.
        #expect(stage.heard(by: bob).acks == ["leave"])
        stage.read(bob)
        let heard = stage.heard(by: bob)
        #expect(heard.statuses == ["dave offline"] && heard.typists == [[]])
        #expect(heard.suffix(3) == [.ack("watch"), .ack("join"), .ack("forget it")])
    }

    @Test("a join that waits for nothing else is acknowledged before its leave, or before the membership ends")
    func joinedInVain() {
        let (stage, bob, _) = watching()
        stage.redis.setMembers(["bob": "Bob"], of: "managed")
        stage.stall(bob)
        stage.say(.join("c", presence: false), id: "join", on: bob)
        stage.settle()
        stage.say(.leave("c"), id: "leave", on: bob)
        #expect(stage.heard(by: bob).acks == ["join", "leave"])
        stage.say(.join("managed", presence: false), id: "member", on: bob)
        stage.settle()
        stage.redis.removeMember("bob", of: "managed")
        stage.settle()
        #expect(stage.heard(by: bob) == [.ack("member"), .removed("managed")])
    }

    @Test("a large snapshot is sent in parts, each when the previous one was sent, and acknowledged after the last")
    func pieces() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.stall(bob)
        stage.forgetWhatWasSaid()
        stage.say(.watch(people(250)), id: "watch", on: bob)
        stage.settle()
        var sizes: [Int] = []
        for _ in 0..<3 {
            stage.read(bob, andStalls: true)
            let heard = stage.heard(by: bob)
            sizes.append(heard.statuses.count)
            #expect(heard.count == (sizes.count == 3 ? 2 : 1))
            #expect(heard.acks == (sizes.count == 3 ? ["watch"] : []))
        }
        #expect(sizes == [100, 100, 50])
    }

    @Test("a reader that keeps up gets a large snapshot without a pause")
    func wholeSnapshot() {
        let (stage, _, _) = watching(people(250))
        stage.become(.online, people(250))
        let dave = stage.enter("dave")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(people(250)), id: "watch", on: dave)
        let heard = stage.heard(by: dave)
        #expect(Set(heard.statuses).count == 250 && heard.statuses.count == 250)
        #expect(heard.count == 4 && heard.last == .ack("watch"))
    }

    @Test("a session that is about to be shown a user is not sent that user's change as well")
    func snapshotAndChange() {
        let (stage, _, carol) = watching()
        let dave = stage.enter("dave")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.event { shard, now in
            shard.presenceChanged(change("alice", .online, version: 2_000_000), at: now)
            shard.received(ClientRequest(.watch(["alice"]), id: nil), on: dave, at: now)
        }
        stage.settle()
        #expect(stage.heard(by: dave).statuses == ["alice online"])
        #expect(stage.heard(by: carol).statuses == ["alice online"])
        #expect(stage.spared.isEmpty)
    }

    @Test("what changes all the time does not keep other changes from being sent")
    func turns() {
        let users = people(150)
        let (stage, bob, _) = watching(users)
        stage.stall(bob)
        stage.become(.online, users)
        stage.read(bob, andStalls: true)
        #expect(stage.heard(by: bob).statuses.count == 100)
        stage.become(.away, Array(users.prefix(100)))
        stage.read(bob)
        let heard = stage.heard(by: bob).statuses
        #expect(heard.prefix(50) == users.suffix(50).map { "\($0) online" }[...])
        #expect(heard.suffix(100) == users.prefix(100).map { "\($0) away" }[...])
    }

    @Test("however much changes at once, a tick sends only a part of it, and the next ticks the rest")
    func ticks() {
        let users = people(250)
        let (stage, bob, _) = watching(users)
        let shard = stage.shard
        for user in users { shard.presenceChanged(change(user, .online, version: 2_000_000), at: stage.now) }
        var sizes: [Int] = []
        repeat {
            shard.endTick()
            sizes.append(stage.heard(by: bob).count)
            // What changes meanwhile is sent after the others.
            if sizes.count == 1 { shard.presenceChanged(change(users[0], .away, version: 2_000_001), at: stage.now) }
        } while shard.hasMoreToTell
        #expect(sizes == [100, 100, 50, 1])
        stage.become(.away, users)
        #expect(!stage.shard.hasMoreToTell)
    }

    @Test("a get of a slow reader is processed when it has caught up")
    func get() {
        let (stage, bob, _) = watching()
        stage.stall(bob)
        stage.say(.get(["alice"]), id: "1", on: bob)
        stage.say(.get([]), id: "2", on: bob)
        #expect(stage.asked.isEmpty)
        stage.read(bob)
        stage.settle()
        #expect(stage.heard(by: bob).answered == ["1", "2"])
        stage.stall(bob)
        stage.say(.get(["alice"]), id: "3", on: bob)
        stage.redisGoes()
        stage.read(bob)
        #expect(stage.heard(by: bob).errors == [.unavailable])
    }

    @Test("the gets of a session name no more users at once than it may watch, and an empty one counts as one")
    func getLimit() {
        var settings = ShardSettings.uncoalesced
        settings.limits.watchedUsers = 3
        let stage = Stage(settings)
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.get(["a", "b"]), id: "1", on: bob)
        stage.say(.get([]), id: "2", on: bob)
        stage.say(.get([]), id: "3", on: bob)
        #expect(stage.heard(by: bob).errors == [.limit])
        stage.settle()
        #expect(stage.heard(by: bob).answered == ["1", "2"])
        stage.say(.get(["a", "b", "c"]), id: "4", on: bob)
        stage.failAll()
        stage.say(.get(["a", "b", "c"]), id: "5", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).answered == ["4", "5"])
        stage.say(.get(["a", "b", "c", "d"]), id: "6", on: bob)
        #expect(stage.heard(by: bob).errors == [.limit])
        stage.redisGoes()
        for _ in 0..<2 { stage.say(.get(["a", "b", "c"]), on: bob) }
        #expect(stage.heard(by: bob).errors == [.unavailable, .unavailable])
    }

    @Test("the number of waiting acknowledgements is limited; further requests are refused without effect")
    func promiseLimit() {
        var settings = ShardSettings.uncoalesced
        settings.limits.watchedUsers = 20
        settings.limits.joinedConversations = 10
        let (stage, bob, _) = watching(["alice"], settings)
        let most = 20 + 10 + settings.bounds.waitingMessages
        stage.say(.join("c", presence: false), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.stall(bob)
        for number in 0..<most {
            stage.say(number.isMultiple(of: 2) ? .watch(["alice"]) : .join("c", presence: false), id: "ok", on: bob)
        }
        #expect(stage.heard(by: bob).isEmpty)
        stage.say(.watch(["eve"]), id: "watch", on: bob)
        stage.say(.join("d", presence: false), id: "join", on: bob)
        #expect(stage.heard(by: bob).answered == ["watch", "join"])
        #expect(stage.asked.isEmpty && stage.unconfirmed.isEmpty)
        stage.read(bob)
        #expect(stage.heard(by: bob).acks.count == most)
    }

    @Test("a session that ends while its reader is slow leaves nothing behind", arguments: [true, false])
    func ends(cleanly: Bool) {
        let (stage, bob, carol) = watching(people(150))
        stage.stall(bob)
        stage.become(.online, people(150))
        stage.say(.get(["alice"]), on: bob)
        stage.read(bob, andStalls: true)
        if cleanly { stage.say(.goodbye, on: bob) } else { stage.drop(bob) }
        stage.read(bob)
        stage.drop(carol)
        stage.pass(.seconds(10))
        #expect(stage.leftovers.isEmpty)
    }

    @Test("a connection that falls behind before its hello, or after its end, has no effect")
    func nobody() {
        let stage = Stage()
        let stranger = stage.connect()
        stage.stall(stranger)
        stage.drop(stranger)
        stage.stall(stranger)
        #expect(stage.leftovers.isEmpty)
    }
}

private func change(_ user: UserID, _ status: PresenceStatus, version: Int64) -> PresenceChange {
    PresenceChange(
        Presence(user: user, status: status, lastSeen: nil, updatedAt: redis(version), version: version))
}

extension Stage {
    /// Publishes that all of these users have this status.
    fileprivate func become(_ status: PresenceStatus, _ users: [UserID]) {
        published += 1
        let version = 2_000_000 + Int64(published)
        event { shard, now in
            for user in users { shard.presenceChanged(change(user, status, version: version), at: now) }
        }
    }
}
