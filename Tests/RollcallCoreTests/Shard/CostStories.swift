// What messages cost Redis and others: the bounds in docs/limits.md, tested with a session that sends as fast as
// it may.

import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct CostStories {
    /// Fewer users than by default, to keep the tests fast.
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

    /// What the budget of five seconds pays for: 200 messages at once and 50 a second, of 40 names each.
    private static let names = (200 + 5 * 50) * 40

    /// Regression: every second message looked up all members.
    @Test func `nothing that is said in a loop looks up or shows more than the budget pays for`() {
        let list = Array(Self.people.prefix(100))
        let loops: [(Int) -> ClientMessage] = [
            { .join("c", presence: $0.isMultiple(of: 2)) }, { _ in .join("c", presence: true) },
            { $0.isMultiple(of: 2) ? .join("c", presence: true) : .leave("c") },
            { _ in .get(list) }, { _ in .watch(list) }, { $0.isMultiple(of: 2) ? .watch(list) : .unwatch(list) },
        ]
        for message in loops {
            let (cost, _) = cost(members: Self.people, message)
            #expect(cost.lookups <= Self.names && cost.shown <= Self.names && cost.reads <= 250)
        }
    }

    @Test func `joins with presence are paid for in advance, and what they do not show is given back`() {
        let stage = Stage(ShardSettings())
        let members = Dictionary(uniqueKeysWithValues: Self.people.prefix(10).map { ($0, $0.text) })
        let conversations = (0..<20).map { ConversationID(stringLiteral: "c\($0)") }
        for conversation in conversations { stage.redis.setMembers(members, of: conversation) }
        let key = stage.enter("m0")
        stage.settle()
        for (number, conversation) in conversations.enumerated() {
            stage.say(.join(conversation, presence: true), id: .integer(Int64(number)), on: key)
        }
        #expect(key.joining.count == 4, "each may show 2,000 members: 51 of 200 messages, of which four are owed")
        for _ in 0..<10 {
            stage.pass(.milliseconds(1))
            stage.settle()
        }
        #expect(stage.heard(by: key).acks.count == 20, "each showed ten")
    }

    @Test func `a join of a conversation that is not the user's costs what it might have shown`() {
        let stage = Stage(ShardSettings())
        stage.redis.setMembers(["m1": "m1"], of: "c")
        let key = stage.enter("m0")
        stage.settle()
        stage.forgetWhatWasSaid()
        for _ in 0..<20 {
            stage.say(.join("c", presence: true), id: "j", on: key)
            stage.settle()
        }
        #expect(stage.heard(by: key).errors == Array(repeating: .notAMember, count: 4))
        stage.pass(.seconds(20))
        #expect(stage.heard(by: key).errors.count == 16, "the others wait, and are answered")
    }

    @Test func `joins that Redis does not answer keep what their session says next waiting only for their cost`() {
        let stage = Stage(ShardSettings())
        let key = stage.enter("m0")
        stage.settle()
        for number in 0..<20 { stage.say(.join(ConversationID(stringLiteral: "c\(number)"), presence: true), on: key) }
        stage.pass(.seconds(18), answering: false)
        #expect(key.joining.count == 20 && key.held == nil)
    }

    @Test func `members that the worker reads again for those who are there are charged to nobody`() {
        let stage = Stage(settings)
        stage.redis.setMembers(Dictionary(uniqueKeysWithValues: Self.people.map { ($0, $0.text) }), of: "c")
        let gathering = stage.enter("m1")
        stage.settle()
        stage.say(.join("c", presence: true), on: gathering)
        stage.settle()
        for _ in 0..<60 {
            stage.event { $0.memberChanged(.reset, in: "c", at: $1) }
            stage.settle()
        }
        stage.forgetWhatWasSaid()
        for _ in 0..<100 { stage.say(.ping, on: gathering) }
        #expect(stage.held.isEmpty)
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
        for _ in 0..<200 { stage.say(.ping, on: first) }
        stage.say(.ping, on: second)
        #expect(stage.held == [second])
        stage.drop(second)
        let third = stage.enter("alice", "tablet")
        stage.settle()
        stage.say(.ping, on: third)
        #expect(stage.held.contains(third) && stage.shard.budgets.count == 1)
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
