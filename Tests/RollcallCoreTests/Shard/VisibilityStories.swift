// Who may ask about whom, and that whoever may not cannot tell.

import RollcallProtocol
import Testing

@testable import RedisTwin
@testable import RollcallCore

@Suite("Who sees whom") struct VisibilityStories {
    /// A worker whose sessions see only those with whom they share a conversation.
    private func shared(upTo most: Int = 100) -> Stage {
        var settings = ShardSettings.uncoalesced
        (settings.watch, settings.sharedMembers) = (.none, most)
        return Stage(settings)
    }

    private func renew(_ key: Session, as user: UserID, _ right: WatchRight?, issued: Int64, on stage: Stage) {
        let issued = Timestamp(milliseconds: issued)
        stage.show(Proof(user: user, device: "phone", issued: issued, grant: Grant(watch: right)), on: key)
        stage.settle()
    }

    // MARK: By name

    @Test(
        "a claim names users and patterns, and oneself is always seen",
        arguments: [
            (nil, "bob", false), (.all, "bob", true), (.only(["bob"]), "bob", true),
            (.only(["acme/*"]), "acme/bob", true),
            (.only(["acme/*"]), "evil/bob", false), (.only([]), "alice", true), (.only([]), "bob", false),
        ] as [(WatchRight?, UserID, Bool)])
    func byName(right: WatchRight?, user: UserID, isSeen: Bool) {
        let stage = shared()
        if user != "alice" { _ = stage.enter(user, "laptop") }
        let alice = stage.enter("alice", watch: right)
        stage.settle()
        #expect(stage.heard(by: alice).welcome?.watch == right ?? WatchRight.none)
        for (message, id) in [(.watch([user]), nil), (.get([user]), "g")] as [(ClientMessage, MessageID?)] {
            stage.forgetWhatWasSaid()
            stage.say(message, id: id, on: alice)
            stage.settle()
            #expect(stage.heard(by: alice).statuses == ["\(user) \(isSeen ? "online" : "offline")"])
        }
    }

    // MARK: What cannot be told

    /// What a session is told of somebody whom it watches and asks for while they come, go away and leave, and what Redis is asked
    /// for it.
    private func told(of user: UserID, others: Bool, _ happens: (Stage) -> [() -> Void]) -> ([ServerMessage], [Int]) {
        let stage = shared()
        let bob = stage.enter("bob")
        if others {
            let carol = stage.enter("carol", watch: .all)
            stage.say(.watch([user]), on: carol)
        }
        let events = happens(stage)
        events.first?()
        stage.settle()
        stage.forgetWhatWasSaid()
        let cost = stage.redisCost
        stage.say(.watch([user]), id: "w", on: bob)
        stage.say(.get([user]), id: "g", on: bob)
        stage.settle()
        for event in events.dropFirst() {
            event()
            stage.settle()
        }
        stage.say(.get([user]), id: "h", on: bob)
        stage.say(.watch([user]), id: "x", on: bob)
        stage.settle()
        let asked = [
            stage.redisCost.subscriptions - cost.subscriptions, stage.redisCost.lookups - cost.lookups,
        ]
        return (stage.heard(by: bob), asked)
    }

    @Test(
        "who is hidden looks like one who was never seen, in every message and at the same cost",
        arguments: [false, true])
    func equal(others: Bool) {
        let never = told(of: "alice", others: others) { _ in [] }
        #expect(never.0.count == 6, "\(never.0)")
        let hidden = told(of: "alice", others: others) { stage in
            let key = stage.connect()
            return [
                { _ = stage.enter("alice", on: key) }, { stage.say(.state(.idle), on: key) },
                { stage.say(.state(.background), on: key) }, { stage.say(.state(.active), on: key) },
                { stage.say(.goodbye, on: key) },
            ]
        }
        #expect(hidden.0 == never.0 && hidden.1 == never.1)
        let background = told(of: "alice", others: others) { stage in
            [{ _ = stage.enter("alice", state: .background) }]
        }
        #expect(background.0 == never.0 && background.1 == never.1)
    }

    @Test("whoever would be shown that a user was never seen waits for a read of its own, whoever else watches")
    func ownRead() {
        let stage = shared()
        let carol = stage.enter("carol", watch: .all)
        stage.say(.watch(["alice"]), on: carol)
        _ = stage.enter("alice")
        stage.settle()
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice"]), id: "w", on: bob)
        #expect(stage.heard(by: bob).isEmpty && stage.asked.isEmpty && stage.unconfirmed == [.presence("alice")])
        stage.confirm()
        #expect(stage.heard(by: bob).isEmpty && stage.asked.count == 1)
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.statuses == ["alice offline"] && heard.last == .ack("w"))
        #expect(stage.heard(by: carol).isEmpty, "she has seen it")
    }

    @Test("each new watcher waits for one read, however many follow")
    func turns() {
        let stage = shared()
        let carol = stage.enter("carol", watch: .all)
        stage.say(.watch(["alice"]), on: carol)
        stage.settle()
        let watchers = (1...3).map { try! stage.enter("bob", DeviceID("d\($0)")) }
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice"]), on: watchers[0])
        stage.confirm()
        stage.say(.watch(["alice"]), on: watchers[1])
        stage.answer()
        #expect(stage.heard(by: watchers[0]).statuses == ["alice offline"])
        stage.say(.watch(["alice"]), on: watchers[2])
        stage.settle()
        #expect(watchers.dropFirst().allSatisfy { stage.heard(by: $0).statuses == ["alice offline"] })
    }

    // MARK: Shared

    /// Bob and alice, who is online, in a conversation of so many; bob has joined it with presence, and watches her.
    private func together(_ stage: Stage, others: Int = 0) -> Session {
        let others = (0..<others).map { (try! UserID("user\($0)"), "") }
        stage.redis.setMembers(Dictionary(others) { $1 }.merging(["alice": "", "bob": ""]) { $1 }, of: "c")
        _ = stage.enter("alice", "laptop")
        stage.settle()
        let bob = stage.enter("bob")
        stage.say(.join("c", presence: true), on: bob)
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        return bob
    }

    @Test(
        "a conversation shares its members with those who have joined it with presence, as long as it is not too long")
    func sharing() {
        let stage = shared(upTo: 3)
        let bob = together(stage)
        #expect(stage.heard(by: bob).statuses.filter { $0.hasPrefix("alice") } == ["alice online"])
        stage.forgetWhatWasSaid()
        stage.redis.setMember("carol", name: "", of: "c")
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["carol offline"])
        stage.forgetWhatWasSaid()
        stage.redis.setMember("dave", name: "", of: "c")
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(Set(heard.statuses) == ["alice offline", "dave offline"])
        #expect(heard.presences.allSatisfy { $0.isNeverSeen && $0.version == 0 && $0.updatedAt == nil })
        stage.forgetWhatWasSaid()
        stage.redis.removeMember("carol", of: "c")
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
    }

    enum End: CaseIterable { case leave, joinWithoutPresence, sheIsRemoved, heIsRemoved }

    @Test("what a conversation shared is taken back at once, and others go on sharing", arguments: End.allCases)
    func takenBack(end: End) {
        for sharesMore in [false, true] {
            let stage = shared()
            let bob = together(stage)
            if sharesMore {
                stage.redis.setMembers(["alice": "", "bob": ""], of: "d")
                stage.say(.join("d", presence: true), on: bob)
                stage.settle()
            }
            stage.forgetWhatWasSaid()
            switch end {
            case .leave: stage.say(.leave("c"), on: bob)
            case .joinWithoutPresence: stage.say(.join("c", presence: false), on: bob)
            case .sheIsRemoved: stage.redis.removeMember("alice", of: "c")
            case .heIsRemoved: stage.redis.removeMember("bob", of: "c")
            }
            stage.settle()
            #expect(stage.heard(by: bob).statuses == (sharesMore ? [] : ["alice offline"]))
            stage.forgetWhatWasSaid()
            stage.say(.get(["alice"]), id: "g", on: bob)
            stage.settle()
            #expect(stage.heard(by: bob).statuses == ["alice \(sharesMore ? "online" : "offline")"])
        }
    }

    @Test("a narrower token takes back, a wider one gives, and an older one changes nothing")
    func tokens() {
        let stage = shared()
        _ = stage.enter("alice", "laptop")
        let bob = stage.enter("bob", issued: Timestamp(milliseconds: 1000), watch: .all)
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        for (right, issued, statuses) in [
            (nil, 2000, ["alice offline"]), (.all, 1500, []), (.only(["al*"]), 3000, ["alice online"]),
            (.only(["alice"]), 4000, []), (.only(["carol"]), 5000, ["alice offline"]),
        ] as [(WatchRight?, Int64, [String])] {
            stage.forgetWhatWasSaid()
            renew(bob, as: "bob", right, issued: issued, on: stage)
            #expect(stage.heard(by: bob).statuses == statuses, "\(issued)")
        }
    }

    @Test("who watches by a claim and by a list sees as long as one of both holds")
    func bothReasons() {
        let stage = shared()
        stage.redis.setMembers(["alice": "", "bob": ""], of: "c")
        _ = stage.enter("alice", "laptop")
        let bob = stage.enter("bob", issued: Timestamp(milliseconds: 1000), watch: .all)
        stage.say(.join("c", presence: true), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        renew(bob, as: "bob", nil, issued: 2000, on: stage)
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.say(.watch(["alice"]), on: bob)
        stage.say(.leave("c"), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online", "alice offline"])
    }

    // MARK: Coming back

    @Test("nobody seems to go while what shares them is still being joined", arguments: [true, false])
    func comingBack(isMember: Bool) {
        let stage = shared()
        stage.redis.setMembers(isMember ? ["alice": "", "bob": ""] : ["alice": ""], of: "c")
        _ = stage.enter("alice", "laptop")
        stage.settle()
        let bob = stage.enter("bob")
        stage.say(.join("c", presence: true), on: bob)
        stage.say(.watch(["alice", "carol"]), on: bob)
        stage.say(.get(["alice"]), id: "g", on: bob)
        while let read = stage.asked.firstIndex(where: { !$0.request.isRoom }) {
            stage.answer(stage.asked.remove(at: read))
        }
        while !stage.unconfirmed.isEmpty { stage.confirm() }
        while let read = stage.asked.firstIndex(where: { !$0.request.isRoom }) {
            stage.answer(stage.asked.remove(at: read))
        }
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.settle()
        let seen = Set(stage.heard(by: bob).statuses)
        #expect(seen.isSuperset(of: ["alice \(isMember ? "online" : "offline")", "carol offline"]))
        #expect(!seen.contains("alice \(isMember ? "offline" : "online")"))
    }

    @Test("a get waits for two seconds at most")
    func late() {
        let stage = shared()
        stage.redis.setMembers(["alice": "", "bob": ""], of: "c")
        _ = stage.enter("alice", "laptop")
        let bob = stage.enter("bob")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.join("c", presence: true), on: bob)
        stage.say(.get(["alice"]), id: "g", on: bob)
        let room = stage.unconfirmed
        stage.unconfirmed = []
        stage.pass(.milliseconds(1900))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.milliseconds(200))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        stage.unconfirmed = room
        stage.settle()
        #expect(Set(stage.heard(by: bob).statuses) == ["alice online", "bob online"])
    }

    // MARK: Readers that are behind

    @Test("who is behind is shown once that a user may not be seen any more, and nothing if it is as before")
    func behind() {
        for comesBack in [false, true] {
            let stage = shared()
            let bob = together(stage)
            stage.forgetWhatWasSaid()
            stage.stall(bob)
            stage.say(.leave("c"), on: bob)
            stage.settle()
            if comesBack {
                stage.say(.join("c", presence: true), on: bob)
                stage.settle()
            }
            #expect(stage.heard(by: bob).statuses.isEmpty)
            stage.read(bob)
            stage.settle()
            let statuses = stage.heard(by: bob).statuses.filter { $0.hasPrefix("alice") }
            #expect(statuses == [comesBack ? "alice online" : "alice offline"])
        }
    }

    @Test("nothing is left of those who were hidden")
    func leavesNothing() {
        let stage = shared()
        let bob = together(stage, others: 3)
        stage.say(.watch(["zoe"]), on: bob)
        stage.settle()
        stage.say(.unwatch(["zoe", "alice"]), on: bob)
        stage.say(.leave("c"), on: bob)
        stage.settle()
        #expect(stage.shard.watchCount == 0 && stage.leftovers["subscriptions"] == nil)
    }
}

extension TwinStore.Asked.Request {
    fileprivate var isRoom: Bool { if case .room = self { true } else { false } }
}
