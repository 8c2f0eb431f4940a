// What messages cost Redis and others: the bounds in docs/hostile-input.md, tested with a session that sends as fast as
// it may.

import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

@Suite struct CostStories {
    /// Fewer users than by default, to keep the tests fast; 800 lookups at once, and 50 per second.
    private var settings: ShardSettings {
        var settings = ShardSettings()
        settings.limits.watchedUsers = 200
        return settings
    }
    private static let people = (0..<200).map { UserID(stringLiteral: "m\($0)") }

    /// What a session caused in five seconds with 50 messages per second.
    private struct Cost {
        var lookups = 0
        var reads = 0
        var writes = 0
        var subscriptions = 0
        var shown = 0
    }

    private func cost(
        of user: UserID = "m0", members: [UserID] = [], _ message: (Int) -> ClientMessage
    ) -> (cost: Cost, told: Int) {
        let stage = Stage(settings)
        stage.redis.setMembers(Dictionary(uniqueKeysWithValues: members.map { ($0, $0.text) }), of: "c")
        let witness = stage.enter("witness")
        stage.say(.watch([user]), on: witness)
        let key = stage.enter(user)
        stage.settle()
        stage.pass(.seconds(1))
        stage.forgetWhatWasSaid()
        let before = stage.redisCost
        for number in 0..<250 {
            stage.say(message(number), on: key)
            stage.settle()
            stage.pass(.milliseconds(20))
        }
        var cost = Cost()
        let after = stage.redisCost
        cost.lookups = after.lookups - before.lookups
        cost.reads = after.reads - before.reads
        cost.writes = after.writes - before.writes
        cost.subscriptions = after.subscriptions - before.subscriptions
        cost.shown = stage.heard(by: key).statuses.count
        return (cost, stage.heard(by: witness).statuses.count)
    }

    /// Regression: every second message looked up all members.
    @Test func `a join with presence toggled looks up no more than the budget and one list`() {
        let (cost, _) = cost(members: Self.people) { .join("c", presence: $0.isMultiple(of: 2)) }
        #expect(cost.lookups <= 800 + 5 * 50 + 200)
        #expect(cost.lookups >= 800)
        #expect(cost.shown <= 1450)
    }

    @Test func `a conversation joined and left in a loop looks up no more than the budget and one list`() {
        let (cost, _) = cost(members: Self.people) { $0.isMultiple(of: 2) ? .join("c", presence: true) : .leave("c") }
        #expect(cost.lookups <= 800 + 5 * 50 + 200)
        #expect(cost.reads <= 250)
    }

    @Test func `a join with presence repeated shows the list no more often than a tenth of the budget`() {
        let (cost, _) = cost(members: Self.people) { _ in .join("c", presence: true) }
        #expect(cost.lookups <= 201)
        #expect(cost.shown <= (800 + 5 * 50) * 10 + 200)
    }

    @Test func `joins with presence in one burst are read a few at a time, until their user has to wait`() {
        for isJoinedBefore in [false, true] {
            var settings = settings
            settings.limits.messageBurst = 1000
            let stage = Stage(settings)
            let members = Dictionary(uniqueKeysWithValues: Self.people.map { ($0, $0.text) })
            let conversations = (0..<100).map { ConversationID(stringLiteral: "c\($0)") }
            for conversation in conversations { stage.redis.setMembers(members, of: conversation) }
            let key = stage.enter("m0")
            stage.settle()
            if isJoinedBefore {
                for conversation in conversations { stage.say(.join(conversation, presence: false), on: key) }
                stage.settle()
            }
            let before = stage.redisCost.membersRead
            for (number, conversation) in conversations.enumerated() {
                stage.say(.join(conversation, presence: true), id: .integer(Int64(number)), on: key)
            }
            stage.settle()
            // 800 lookups are available at once. The first list costs 220, and each further one 20 for its names and 20
            // to be shown. Eight were in flight when the budget was used up.
            #expect((15...24).contains(stage.redisCost.membersRead - before))
            stage.pass(.seconds(100))
            #expect(Set(stage.heard(by: key).acks).count == 100, "all are joined in the end")
        }
    }

    /// The reads of conversations that were left again were not counted.
    @Test func `joins with presence and leaves in pairs are read a few at a time, as joins alone are`() {
        var settings = settings
        settings.limits.messageBurst = 1000
        let stage = Stage(settings)
        let members = Dictionary(uniqueKeysWithValues: Self.people.map { ($0, $0.text) })
        let conversations = (0..<100).map { ConversationID(stringLiteral: "c\($0)") }
        for conversation in conversations + ["d"] { stage.redis.setMembers(members, of: conversation) }
        let (tablet, key) = (stage.enter("m0", "tablet"), stage.enter("m0"))
        stage.settle()
        for conversation in conversations + ["d"] { stage.say(.join(conversation, presence: false), on: tablet) }
        stage.settle()
        // Each read costs 20 of 800 lookups, and 8 were on their way when the last were spent. Of a conversation whose
        // members are known nothing is read.
        for (places, reads) in [(conversations, 40...48), (Array(repeating: "d", count: 100), 8...16)] {
            stage.pass(.seconds(60))
            let before = stage.redisCost.membersRead
            for conversation in places {
                stage.say(.join(conversation, presence: true), on: key)
                stage.say(.leave(conversation), on: key)
            }
            #expect(stage.redisCost.membersRead - before == 8, "the others wait for these")
            stage.settle()
            #expect(reads.contains(stage.redisCost.membersRead - before))
            stage.pass(.seconds(100))
            #expect(stage.shard.sessions[key]?.membersReads == [] && stage.shard.sessions[key]?.held == nil)
        }
        #expect(stage.redisCost.membersRead >= 100 + 8, "all are read in the end")
    }

    @Test func `joins that Redis does not answer keep what their session says next waiting for a moment only`() {
        let stage = Stage(settings)
        let key = stage.enter("m0")
        stage.settle()
        for number in 0..<20 { stage.say(.join(ConversationID(stringLiteral: "c\(number)"), presence: true), on: key) }
        #expect(stage.shard.sessions[key]?.joining.count == 8)
        stage.pass(.milliseconds(600), answering: false)
        #expect(stage.shard.sessions[key]?.joining.count == 20)
        #expect(stage.shard.sessions[key]?.held == nil)
    }

    @Test func `members that the worker reads again for those who are there are charged to nobody`() {
        let stage = Stage(settings)
        stage.redis.setMembers(Dictionary(uniqueKeysWithValues: Self.people.map { ($0, $0.text) }), of: "c")
        let (plain, gathering) = (stage.enter("m0"), stage.enter("m1"))
        stage.settle()
        stage.say(.join("c", presence: false), on: plain)
        stage.say(.join("c", presence: true), on: gathering)
        stage.settle()
        for _ in 0..<60 {
            stage.event { $0.memberChanged(.reset, in: "c", at: $1) }
            stage.settle()
        }
        #expect(stage.shard.lookups.next(of: "m0", at: stage.now) == nil)
        stage.forgetWhatWasSaid()
        stage.say(.get(["bob"]), on: plain)
        #expect(stage.heard(by: plain).errors.isEmpty)
    }

    @Test func `users watched again or got again stay within the budget`() {
        let list = Array(Self.people.prefix(100))
        let (got, _) = cost { _ in .get(list) }
        #expect(got.lookups <= 800 + 5 * 50 + 100)
        let (watched, _) = cost { _ in .watch(list) }
        #expect(watched.lookups <= 101)
        #expect(watched.shown <= 10_500)
        let (toggled, _) = cost { $0.isMultiple(of: 2) ? .watch(list) : .unwatch(list) }
        #expect(toggled.lookups <= 800 + 5 * 50 + 100)
    }

    @Test func `a state toggled is written and told four times at once, and then once in each coalescing period`() {
        let (cost, told) = cost { .state($0.isMultiple(of: 2) ? .idle : .active) }
        #expect((13...15).contains(cost.writes))
        #expect((8...15).contains(told))
    }

    @Test func `an unmanaged conversation joined and left costs a read and two channels each time`() {
        let (cost, _) = cost { $0.isMultiple(of: 2) ? .join("c", presence: false) : .leave("c") }
        #expect(cost.reads <= 125 && cost.subscriptions <= 250 && cost.lookups == 0)
    }

    @Test func `a token counts as ten messages`() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        for _ in 0..<250 {
            stage.say(.token("t"), on: key)
            stage.pass(.milliseconds(20))
        }
        // A burst of 200 and a rate of 50 per second; each token counts as ten.
        #expect(stage.tokensJudged <= 1 + 20 + 5 * 5 + 1)
    }

    @Test func `a second session of the user, or a reconnect, does not double the budget`() {
        let stage = Stage(settings)
        let first = stage.enter("alice", "phone")
        let second = stage.enter("alice", "tablet")
        stage.settle()
        for _ in 0..<4 {
            stage.say(.get(Self.people), on: first)
            stage.settle()
        }
        stage.forgetWhatWasSaid()
        stage.say(.get(["bob"]), on: second)
        #expect(stage.heard(by: second).errors == [.slowDown])
        stage.drop(second)
        let third = stage.enter("alice", "tablet")
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.get(["bob"]), on: third)
        #expect(stage.heard(by: third).errors == [.slowDown])
        #expect(stage.shard.lookups.count == 1)
    }

    // MARK: Nothing that waits is lost

    /// A session that joins a conversation of 200 members with presence, and whose user has no budget left when it is
    /// read.
    private func waitingForMembers() -> (stage: Stage, key: SessionKey) {
        let stage = Stage(settings)
        stage.redis.setMembers(Dictionary(uniqueKeysWithValues: Self.people.map { ($0, $0.text) }), of: "c")
        let (key, tablet) = (stage.enter("m0"), stage.enter("m0", "tablet"))
        stage.settle()
        for _ in 0..<3 {
            stage.say(.get(Self.people), on: tablet)
            stage.settle()
        }
        stage.say(.join("c", presence: true), id: "with", on: key)
        stage.say(.get(Self.people), on: tablet)
        stage.forgetWhatWasSaid()
        stage.settle()
        return (stage, key)
    }

    @Test
    func `members that wait for credit are shown when it is there, and typing in the conversation works meanwhile`() {
        let (stage, key) = waitingForMembers()
        #expect(stage.heard(by: key).acks.isEmpty)
        stage.say(.typing("c", true), id: "t", on: key)
        stage.settle()
        #expect(stage.heard(by: key).acks == ["t"])
        #expect(stage.signals.map(\.conversation) == ["c"])
        stage.pass(.seconds(2))
        let heard = stage.heard(by: key)
        #expect(heard.statuses.count == 200 && heard.acks == ["with"])
    }

    @Test func `a join without presence ends the wait for members`() {
        let (stage, key) = waitingForMembers()
        stage.say(.join("c", presence: false), id: "without", on: key)
        stage.pass(.seconds(10))
        #expect(Set(stage.heard(by: key).acks) == ["with", "without"])
        #expect(stage.shard.watchCount == 0)
    }

    @Test func `a session that leaves while its members wait leaves nothing behind`() {
        let (stage, key) = waitingForMembers()
        stage.say(.leave("c"), id: "l", on: key)
        #expect(stage.heard(by: key).answered.contains("with"))
        stage.pass(.seconds(10))
        #expect(stage.shard.roomCount == 0 && stage.shard.watchCount == 0)
    }

    // MARK: Coalescing

    @Test func `four changes after quiet are told at once, and then the present state at the end of each period`() {
        let stage = Stage(ShardSettings())
        let bob = stage.enter("bob")
        stage.say(.watch(["alice"]), on: bob)
        let alice = stage.enter("alice")
        stage.settle()
        stage.pass(.seconds(1))
        stage.forgetWhatWasSaid()
        stage.pass(.seconds(1))
        for (state, status) in [(DeviceState.idle, "away"), (.active, "online"), (.idle, "away"), (.active, "online")] {
            stage.say(.state(state), on: alice)
            stage.settle()
            #expect(stage.heard(by: bob).statuses == ["alice \(status)"])
        }
        stage.say(.state(.idle), on: alice)
        stage.say(.state(.background), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.milliseconds(500))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        stage.pass(.seconds(1))
        for (state, status) in [(DeviceState.active, "online"), (.idle, "away")] {
            stage.say(.state(state), on: alice)
            stage.settle()
            #expect(stage.heard(by: bob).statuses == ["alice \(status)"], "two are regained")
        }
        stage.say(.state(.active), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    @Test func `a goodbye is written at once, whatever the device said before`() {
        let stage = Stage(ShardSettings())
        let alice = stage.enter("alice")
        stage.settle()
        stage.say(.state(.idle), on: alice)
        stage.say(.state(.active), on: alice)
        stage.settle()
        stage.say(.goodbye, on: alice)
        stage.settle()
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
        #expect(stage.leftovers.isEmpty)
    }

    @Test func `a device that leaves and comes back is shown without delay, and has no fresh burst`() {
        let stage = Stage(ShardSettings())
        let bob = stage.enter("bob")
        stage.say(.watch(["alice"]), on: bob)
        stage.pass(.seconds(5))
        for round in 0..<6 {
            stage.forgetWhatWasSaid()
            let alice = stage.enter("alice")
            stage.settle()
            stage.say(.goodbye, on: alice)
            stage.settle()
            #expect(stage.heard(by: bob).statuses == (round < 2 ? ["alice online", "alice offline"] : []))
        }
    }
}
