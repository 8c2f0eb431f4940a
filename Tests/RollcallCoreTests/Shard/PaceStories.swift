// Sessions that exceed the message budget of their user: they are read more slowly, for as long as it takes.

import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct PaceStories {
    /// Returns the number of pongs sent to a session since the last call.
    private func pongs(_ stage: Stage, _ key: Session) -> Int {
        stage.heard(by: key).count { if case .pong = $0 { true } else { false } }
    }

    @Test func `a bunch over the burst is held, taken in order as budget comes, and closes nobody`() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.forgetWhatWasSaid()
        for number in 0..<500 {
            stage.say(.watch([UserID(stringLiteral: "u\(number)")]), id: .integer(Int64(number)), on: key)
        }
        stage.settle()
        #expect(stage.held == [key])
        #expect((190...200).contains(stage.heard(by: key).acks.count))
        stage.pass(.seconds(7))
        #expect(stage.heard(by: key).acks == (200..<500).map { .integer(Int64($0)) })
        #expect(stage.closed.isEmpty && stage.held.isEmpty)
        #expect(stage.limitsHit[key] == [.messageRate], "one episode counts once")
    }

    @Test func `messages of all devices of a user count together, and what exceeds that waits`() {
        let stage = Stage()
        let devices = (0..<20).map { stage.enter("mallory", DeviceID(stringLiteral: "d\($0)")) }
        let alice = stage.enter("alice")
        stage.settle()
        stage.forgetWhatWasSaid()
        for second in 0..<60 {
            for number in 0..<38 {
                for device in devices { stage.say(.state(number.isMultiple(of: 2) ? .idle : .active), on: device) }
            }
            stage.pass(.seconds(1))
            stage.say(.state(second.isMultiple(of: 2) ? .idle : .active), id: .integer(Int64(second)), on: alice)
        }
        stage.settle()
        let taken = 20 * 38 * 60 - devices.compactMap { stage.shard.heldMessageCount(of: $0) }.reduce(0, +)
        #expect((200 + 59 * 50...200 + 61 * 50).contains(taken), "a burst of 200, and 50 a second: \(taken)")
        #expect(stage.closed.isEmpty, "nobody is closed for it")
        #expect(stage.heard(by: alice).acks.count == 60, "and nobody else is slowed down")
    }

    /// Regression: as long as two sessions sent 30 messages a second each, a `join` of a third was never taken. A session took
    /// whatever the budget had, and a message that cost more than that never came to it.
    @Test(arguments: [
        (floods: 2, perSecond: 30, users: 0, bound: 5), (4, 30, 0, 5), (1, 200, 0, 5), (4, 50, 0, 5), (4, 20, 2000, 10),
    ])
    func `beside sessions that flood, each message of the user's other devices gets its turn`(
        floods: Int, perSecond: Int, users: Int, bound: Int
    ) {
        let stage = Stage(ShardSettings())
        let crowd = (0..<users).map { UserID(stringLiteral: "u\($0)") }
        let flooding = (0..<floods).map { stage.enter("mallory", DeviceID(stringLiteral: "d\($0)")) }
        stage.settle()
        /// How long after they were sent the answers came, at most.
        func answered(_ messages: [ClientMessage], _ devices: [Session]) -> Int {
            stage.forgetWhatWasSaid()
            var (sent, tenths) = (0, 0)
            while tenths < 300 {
                for key in flooding {
                    for _ in 0..<perSecond / 10 { stage.say(users > 0 ? .get(crowd) : .ping, on: key) }
                }
                if sent == 0 {
                    for (number, message) in messages.enumerated() {
                        for key in devices { stage.say(message, id: .integer(Int64(number)), on: key) }
                    }
                    sent = devices.count * messages.count
                }
                stage.settle()
                stage.pass(.milliseconds(100))
                tenths += 1
                sent -= devices.reduce(0) {
                    $0
                        + stage.heard(by: $1).count {
                            switch $0 {
                            case .ack, .pong: true
                            default: false
                            }
                        }
                }
                if sent == 0 { return tenths }
            }
            return .max
        }
        _ = answered([.ping], [stage.enter("mallory", "early")])
        let devices = (0..<2).map { stage.enter("mallory", DeviceID(stringLiteral: "e\($0)")) }
        let all = [
            ClientMessage.join("c", presence: true), .watch((0..<80).map { UserID(stringLiteral: "w\($0)") }),
            .token("mallory"),
        ]
        for message in all { #expect(answered([message], devices) <= bound * 10) }
        #expect(answered([.ping], devices) <= (users > 0 ? bound : 2) * 10)
        if users == 0 { #expect(answered([.leave("c")] + all, devices) <= bound * 10, "all of them at once") }
    }

    @Test func `a message is taken as soon as there is anything, what it lacks is owed, and never more than one is`() {
        let stage = Stage(ShardSettings())
        let key = stage.enter("alice")
        stage.settle()
        stage.forgetWhatWasSaid()
        let names = (0..<1960).map { UserID(stringLiteral: "u\($0)") }
        for number in 0..<6 { stage.say(.get(names), id: .integer(Int64(number)), on: key) }
        stage.say(.ping, on: key)
        #expect(stage.shard.heldMessageCount(of: key) == 3, "each costs 50 of 200")
        stage.pass(.milliseconds(100))
        #expect(stage.shard.heldMessageCount(of: key) == 2)
        stage.pass(.milliseconds(850))
        #expect(stage.shard.heldMessageCount(of: key) == 2)
        stage.pass(.milliseconds(150))
        #expect(stage.shard.heldMessageCount(of: key) == 1)
        stage.pass(.milliseconds(1050))
        #expect(pongs(stage, key) == 1)
    }

    /// Regression: the messages exceeded a budget of 200, and the session was closed for good.
    @Test func `a stall of Redis at connect, and messages at the documented rate meanwhile, close nobody`() {
        let stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        for number in 0..<1500 {
            if number >= 200 { stage.pass(.milliseconds(20), answering: false) }
            stage.say(.ping, on: key)
        }
        #expect(pongs(stage, key) == 0, "its token is not judged yet")
        stage.settle()
        stage.pass(.seconds(30))
        #expect(pongs(stage, key) == 1500)
        #expect(stage.closed.isEmpty && stage.held.isEmpty)
    }

    @Test func `an uplink stall of minutes closes no client that keeps to its rate, then or later`() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        var sent = 0
        stage.pass(.seconds(240))
        for _ in 0..<(240 * 50) {
            stage.say(.ping, on: key)
            sent += 1
            // What the kernel buffers while the session is paused arrives when it is read again.
            if stage.held.contains(key), sent.isMultiple(of: 4000) { stage.pass(.seconds(40)) }
        }
        for _ in 0..<300 {
            for _ in 0..<50 { stage.say(.ping, on: key) }
            stage.pass(.seconds(1))
        }
        #expect(stage.closed.isEmpty)
    }

    @Test func `a client that keeps sending too much is read at its rate for ever, and never closed`() {
        let stage = Stage()
        let key = stage.enter("mallory")
        stage.settle()
        for _ in 0..<600 {
            for _ in 0..<8 { stage.say(.ping, on: key) }
            stage.pass(.milliseconds(100))
        }
        #expect(stage.closed.isEmpty && (3190...3210).contains(pongs(stage, key)))
        #expect(stage.limitsHit[key]?.allSatisfy { $0 == .messageRate } == true)
    }

    @Test func `a session of this process that says ever more while it is held is closed, and keeps no memory`() {
        let stage = Stage()
        let key = stage.enter("alice")
        for _ in 0..<9000 { stage.say(.ping, on: key) }
        #expect(stage.closed[key] == .tooManyMessages)
    }

    @Test(arguments: [true, false])
    func `a goodbye that waits counts when it is taken, and when the connection is lost`(
        isLost: Bool
    ) {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        for _ in 0..<300 { stage.say(.ping, on: key) }
        stage.say(.goodbye, on: key)
        #expect(stage.closed.isEmpty)
        if isLost { stage.drop(key) } else { stage.pass(.seconds(3)) }
        stage.settle()
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
        #expect(stage.leftovers.isEmpty)
    }

    @Test func `a connection that is lost while it is held leaves nothing, and its device keeps its grace`() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        for _ in 0..<300 { stage.say(.ping, on: key) }
        stage.drop(key)
        stage.settle()
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        stage.pass(.seconds(10))
        #expect(stage.leftovers.isEmpty)
    }

    /// Regression: it was shown for three seconds from when it was processed.
    @Test(arguments: [(waiting: 300, isShown: true), (waiting: 400, isShown: false)])
    func `typing that waits its turn ends by its expiry, counted from when it was said`(
        waiting: Int, isShown: Bool
    ) {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        for key in [alice, bob] { stage.say(.join("c", presence: false), on: key) }
        stage.pass(.seconds(10))
        stage.forgetWhatWasSaid()
        for _ in 0..<waiting { stage.say(.ping, on: alice) }
        stage.say(.typing("c", true), id: "t", on: alice)
        stage.pass(.milliseconds(2950))
        #expect(stage.heard(by: bob).typists == (isShown ? [["alice"]] : []))
        stage.pass(.milliseconds(50))
        #expect(stage.heard(by: bob).typists == (isShown ? [[]] : []))
        stage.pass(.seconds(5))
        #expect(stage.heard(by: alice).acks == ["t"])
        #expect(stage.heard(by: bob).typists.isEmpty)
    }

    // MARK: Waiting for Redis

    /// Regression: the 101st was refused.
    @Test func `every watch and join within the limits is kept while Redis is away, and acknowledged when it is back`()
    {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.redisGoes()
        stage.forgetWhatWasSaid()
        for number in 0..<400 {
            let name = "n\(number)"
            stage.say(.watch([UserID(stringLiteral: name)]), id: .text(ByteString("w\(number)")), on: key)
            stage.say(
                .join(ConversationID(stringLiteral: name), presence: false), id: .text(ByteString("j\(number)")),
                on: key)
            stage.pass(.milliseconds(40), answering: false)
        }
        #expect(stage.heard(by: key).isEmpty)
        stage.redisReturns()
        stage.settle()
        stage.pass(.seconds(2))
        #expect(Set(stage.heard(by: key).acks).count == 800)
    }

    @Test func `repeated messages that wait for Redis are bounded, also over many conversations`() {
        var settings = ShardSettings.uncoalesced
        settings.limits.watchedUsers = 5
        settings.limits.joinedConversations = 5
        settings.limits.messageBurst = 10_000
        let stage = Stage(settings)
        let key = stage.enter("alice")
        stage.settle()
        stage.redisGoes()
        stage.forgetWhatWasSaid()
        for number in 0..<1000 {
            stage.say(.join(ConversationID(stringLiteral: "c\(number % 5)"), presence: false), id: "j", on: key)
        }
        #expect((885...895).contains(stage.heard(by: key).errors.count))
        for _ in 0..<300 { stage.say(.watch(["bob"]), id: "w", on: key) }
        #expect(stage.heard(by: key).errors.count == 190)
    }

    @Test func `states that wait for Redis supersede one another, and none is refused`() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.redisGoes()
        stage.forgetWhatWasSaid()
        for number in 0..<500 {
            stage.say(.state(number.isMultiple(of: 2) ? .idle : .active), id: .integer(Int64(number)), on: key)
            stage.pass(.milliseconds(20), answering: false)
        }
        let early = stage.heard(by: key)
        #expect(early.errors.isEmpty && early.acks.count == 400)
        stage.redisReturns()
        stage.settle()
        #expect(stage.heard(by: key).acks == (400..<500).map { .integer(Int64($0)) })
    }
}
