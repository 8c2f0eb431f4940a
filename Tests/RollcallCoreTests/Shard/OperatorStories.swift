import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

@Suite("Operators") struct OperatorStories {
    private func name(of key: SessionKey, in stage: Stage) throws -> SessionName {
        try #require(stage.shard.sessions[key]?.recorder?.name)
    }

    @Test("who is sent away is told so, and gone at once")
    func sentAway() throws {
        var stage = Stage()
        let key = stage.enter("alice")
        let other = stage.enter("alice", "tablet", state: .idle)
        stage.settle()
        let name = try name(of: key, in: stage)
        stage.event { $0.sentAway(name, at: $1) }
        stage.settle()
        #expect(stage.closed == [key: .sentAway])
        #expect(stage.heard(by: key).last == .goodbye(.init(reason: .sentAway, reconnect: false)))
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .away, "the other device stays")
        #expect(stage.shard.sessions.keys == [other])
        stage.event { $0.sentAway(name, at: $1) }
        #expect(stage.closed == [key: .sentAway], "a notice that comes twice does nothing")
    }

    @Test("a device in grace is sent away, too")
    func sentAwayInGrace() throws {
        var stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        let name = try name(of: key, in: stage)
        stage.drop(key)
        stage.settle()
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        stage.event { $0.sentAway(name, at: $1) }
        stage.settle()
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
        #expect(stage.leftovers.isEmpty)
    }

    @Test("a token from before the revocation opens no session, and harms none that stands")
    func revokedBefore() {
        var stage = Stage()
        let issued = stage.redis.time
        stage.pass(.seconds(1))
        _ = stage.redis.revokeTokens(of: "alice")
        let honest = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.milliseconds(5))
        let thief = stage.enter("alice", issued: issued)
        stage.settle()
        #expect(stage.closed == [thief: .badToken])
        #expect(stage.shard.sessions.keys == [honest])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        #expect(stage.redis.listed.values.flatMap(\.self).count == 1)
    }

    /// Whatever it says first is refused, be it that it goes.
    @Test(
        "a token from before the revocation cannot take the device away by coming and going at once", arguments: 0..<3)
    func comesAndGoes(how: Int) {
        var stage = Stage()
        let issued = stage.redis.time
        stage.pass(.seconds(1))
        _ = stage.redis.revokeTokens(of: "alice")
        let honest = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.milliseconds(5))
        let thief = stage.enter("alice", issued: issued)
        if how > 0 { stage.say(.goodbye, on: thief) }
        if how < 2 { stage.drop(thief) }
        stage.pass(.seconds(10))
        #expect(stage.closed[honest] == nil)
        #expect(stage.shard.sessions.keys == [honest])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        #expect(stage.redis.listed.values.flatMap(\.self).count == 1)
    }

    /// It read presence and typing until the refusal of its first write came.
    @Test("a token from before the revocation reads and says nothing, however quick")
    func revokedAndQuick() {
        var stage = Stage()
        let issued = stage.redis.time
        stage.pass(.seconds(1))
        _ = stage.redis.revokeTokens(of: "alice")
        stage.pass(.milliseconds(5))
        let thief = stage.enter("alice", issued: issued)
        stage.say(.watch(["bob"]), on: thief)
        stage.say(.get(["bob"]), on: thief)
        stage.say(.join("c1", presence: true), on: thief)
        stage.say(.typing("c1", true), on: thief)
        stage.settle()
        #expect(stage.heard(by: thief).count == 1, "the welcome")
        #expect(stage.closed == [thief: .badToken])
        #expect(stage.signals.isEmpty && stage.leftovers.isEmpty)
    }

    @Test("while Redis is away, or as soon as it goes, nobody waits for its word", arguments: [true, false])
    func heardWithoutRedis(isAway: Bool) {
        var stage = Stage()
        if isAway { stage.redisGoes() }
        let key = stage.enter("alice", issued: stage.redis.time)
        stage.say(.ping, on: key)
        #expect(stage.held == (isAway ? [] : [key]))
        if !isAway { stage.redisGoes() }
        #expect(stage.held.isEmpty && stage.heard(by: key).count == 2, "a welcome and a pong")
    }

    @Test("a first write that fails keeps nobody waiting, and one that comes to nothing takes a goodbye at its word")
    func failedFirstWrite() {
        var stage = Stage()
        let (first, second) = (
            stage.enter("alice", issued: stage.redis.time), stage.enter("bob", issued: stage.redis.time)
        )
        stage.say(.ping, on: first)
        stage.say(.goodbye, on: second)
        stage.drop(second)
        stage.failAll()
        #expect(stage.held.isDisjoint(with: [first]) && stage.heard(by: first).count == 2)
        stage.heartbeat()
        stage.settle()
        #expect(stage.redis.record(of: "bob").presence(past: [:]).status == .offline, "there is no grace for it")
        #expect(stage.shard.sessions.keys == [first])
    }

    @Test("nothing is taken of a session whose first write came too late, until Redis has judged it")
    func tooLateToBeJudged() {
        var stage = Stage()
        let revoked = stage.redis.revokeTokens(of: "alice")
        let key = stage.enter("alice", issued: revoked.advanced(by: .seconds(-60)))
        stage.say(.watch(["bob"]), id: "w", on: key)
        // Redis is slow: it answers the list, and the write reaches it after its time.
        stage.answer()
        stage.pass(.seconds(2), answering: false)
        stage.answer()
        #expect(stage.asked.isEmpty, "the write was late, and nobody is read: \(stage.asked)")
        #expect(stage.unconfirmed.isEmpty && stage.heard(by: key).acks.isEmpty)
        stage.pass(.seconds(3))
        #expect(stage.closed == [key: .badToken])
        #expect(stage.heard(by: key).acks.isEmpty)
    }

    @Test("a session that nobody told of the revocation ends with the next that it says")
    func revokedMeanwhile() {
        var stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.seconds(1))
        _ = stage.redis.revokeTokens(of: "alice")
        stage.say(.state(.idle), on: key)
        stage.settle()
        #expect(stage.closed == [key: .badToken])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
        #expect(stage.leftovers.isEmpty)
    }

    /// It lived until its token's end if it said nothing more.
    @Test("a session that nobody told, and that says nothing, is found by the audit, and one with a later token is not")
    func revokedAndSilent() {
        var stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        let other = stage.enter("alice", "tablet", issued: stage.redis.time)
        let proven = stage.enter("alice", "laptop")
        stage.settle()
        stage.pass(.seconds(1))
        let revoked = stage.redis.revokeTokens(of: "alice")
        let fresh = stage.enter("alice", "desk", issued: revoked)
        stage.pass(ShardSettings.auditCycle + .seconds(2))
        #expect(stage.closed == [key: .badToken, other: .badToken])
        #expect(Set(stage.shard.sessions.keys) == [proven, fresh])
        #expect(stage.redis.record(of: "alice").devices.filter { $0.value.state != nil }.count == 2)
        #expect(stage.shard.tally.auditMended == 0)
    }

    /// It was closed for good, whose token was good.
    @Test("a fresh token that comes while a write is refused for the one before carries the session on")
    func refreshedMeanwhile() {
        var stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.seconds(1))
        let revoked = stage.redis.revokeTokens(of: "alice")
        stage.say(.state(.idle), id: "s", on: key)
        stage.event { $0.authenticated(key, user: "alice", device: "phone", issued: revoked, id: nil, at: $1) }
        stage.settle()
        #expect(stage.closed.isEmpty)
        #expect(stage.heard(by: key).acks == ["s"])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .away)
    }

    @Test("a fresh token carries the session over the revocation")
    func refreshed() {
        var stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.seconds(1))
        let revoked = stage.redis.revokeTokens(of: "alice")
        stage.event { $0.authenticated(key, user: "alice", device: "phone", issued: revoked, id: nil, at: $1) }
        stage.say(.state(.idle), on: key)
        stage.settle()
        #expect(stage.closed.isEmpty)
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .away)
    }
}
