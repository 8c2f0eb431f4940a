import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite("Operators") struct OperatorStories {
    private func name(of key: Session, in stage: Stage) throws -> SessionName {
        try #require(key.recorder?.name)
    }

    @Test("a device that is disconnected by an operator gets a close code, and is offline at once")
    func sentAway() throws {
        let stage = Stage()
        let key = stage.enter("alice")
        let other = stage.enter("alice", "tablet", state: .idle)
        stage.settle()
        let name = try name(of: key, in: stage)
        stage.event { $0.noticed(.sentAway(name), at: $1) }
        stage.settle()
        #expect(stage.closed == [key: .sentAway])
        #expect(stage.heard(by: key).last == .goodbye(.init(reason: .sentAway, reconnect: false)))
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .away, "the other device stays")
        #expect(stage.shard.table.all == [other])
        stage.event { $0.noticed(.sentAway(name), at: $1) }
        #expect(stage.closed == [key: .sentAway], "a notice that comes twice does nothing")
    }

    @Test("a device in its grace period is removed as well")
    func sentAwayInGrace() throws {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        let name = try name(of: key, in: stage)
        stage.drop(key)
        stage.settle()
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        stage.event { $0.noticed(.sentAway(name), at: $1) }
        stage.settle()
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
        #expect(stage.leftovers.isEmpty)
    }

    /// Regression: an app that revoked tokens and got a new one at once was refused for good.
    @Test(
        "a token from before the revocation opens no session, and ends no other; at first, the client is asked for another",
        arguments: [(1, CloseCode.tokenExpired), (70, .badToken)])
    func revokedBefore(seconds: Int, code: CloseCode) {
        let stage = Stage()
        let issued = stage.redis.time
        stage.pass(.seconds(1))
        _ = stage.redis.revokeTokens(of: "alice")
        let honest = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.seconds(seconds))
        let thief = stage.enter("alice", issued: issued)
        stage.settle()
        #expect(stage.closed == [thief: code])
        #expect(stage.shard.table.all == [honest])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        #expect(stage.redis.listed.values.flatMap(\.self).count == 1)
    }

    /// Its first message is refused, even if it is a goodbye.
    @Test(
        "a token from before the revocation cannot remove the device by leaving at once", arguments: 0..<3)
    func comesAndGoes(how: Int) {
        let stage = Stage()
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
        #expect(stage.shard.table.all == [honest])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        #expect(stage.redis.listed.values.flatMap(\.self).count == 1)
    }

    /// Regression: the session read presence and typing until its first write was refused.
    @Test("a token from before the revocation reads and sends nothing, however quick")
    func revokedAndQuick() {
        let stage = Stage()
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
        #expect(stage.heard(by: thief).count == 2, "the welcome and a goodbye")
        #expect(stage.closed == [thief: .tokenExpired])
        #expect(stage.signals.isEmpty && stage.leftovers.isEmpty)
    }

    /// Regression: nothing can be written then, and nothing else told the worker of the revocation.
    @Test("while Redis refuses writes, a token from before the revocation reads nothing", arguments: [true, false])
    func revokedWhileWritesAreRefused(isKnown: Bool) {
        let stage = Stage()
        let issued = stage.redis.time
        stage.pass(.seconds(1))
        _ = stage.redis.revokeTokens(of: "alice")
        if isKnown { stage.redisRefusesWrites() }
        let (thief, honest) = (stage.enter("alice", issued: issued), stage.enter("bob", issued: stage.redis.time))
        for key in [thief, honest] { stage.say(.ping, on: key) }
        if !isKnown { stage.redisRefusesWrites() }
        #expect(stage.heard(by: thief).count == 1 && stage.heard(by: honest).count == 1, "they wait")
        stage.settle()
        #expect(stage.heard(by: thief).count == 1 && stage.closed == [thief: .tokenExpired], "a goodbye")
        #expect(stage.heard(by: honest).count == 1, "a pong")
    }

    @Test(
        "a session whose token was revoked while Redis was away ends with its first write: at once or, if its device is not active, 1.25 s later at most",
        arguments: [DeviceState.active, .idle, .background])
    func revokedWhileRedisWasAway(state: DeviceState) {
        let stage = Stage()
        let key = stage.enter("alice", state: state, issued: stage.redis.time)
        stage.settle()
        stage.redisGoes()
        stage.pass(.seconds(1), answering: false)
        _ = stage.redis.revokeTokens(of: "alice")
        stage.redisReturns()
        stage.settle()
        #expect(stage.closed == (state == .active ? [key: .badToken] : [:]))
        stage.pass(.milliseconds(1250))
        #expect(stage.closed == [key: .badToken])
    }

    @Test("while Redis is away, or as soon as it fails, sessions do not wait for its answer", arguments: [true, false])
    func heardWithoutRedis(isAway: Bool) {
        let stage = Stage()
        if isAway { stage.redisGoes() }
        let key = stage.enter("alice", issued: stage.redis.time)
        stage.say(.ping, on: key)
        #expect(stage.held == (isAway ? [] : [key]))
        if !isAway { stage.redisGoes() }
        #expect(stage.held.isEmpty && stage.heard(by: key).count == 2, "a welcome and a pong")
    }

    @Test("after a failed first write, held sessions continue, and a goodbye that waited takes effect")
    func failedFirstWrite() {
        let stage = Stage()
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
        #expect(stage.shard.table.all == [first])
    }

    @Test("nothing is accepted from a session whose first write was too late, until Redis has checked its token")
    func tooLateToBeJudged() {
        let stage = Stage()
        let revoked = stage.redis.revokeTokens(of: "alice")
        let key = stage.enter("alice", issued: revoked.advanced(by: .seconds(-60)))
        stage.say(.watch(["bob"]), id: "w", on: key)
        // Redis is slow: it answers the listing, and the write reaches it after its deadline.
        stage.answer()
        stage.pass(.seconds(2), answering: false)
        stage.answer()
        #expect(stage.asked.isEmpty, "the write was late, and nobody is read: \(stage.asked)")
        #expect(stage.unconfirmed.isEmpty && stage.heard(by: key).acks.isEmpty)
        stage.pass(.seconds(3))
        #expect(stage.closed == [key: .tokenExpired])
        #expect(stage.heard(by: key).acks.isEmpty)
    }

    @Test("a session that was not notified of the revocation ends with its next message")
    func revokedMeanwhile() {
        let stage = Stage()
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

    /// Regression: it lived until its token expired if it sent nothing.
    @Test("a silent session that was not notified is found by the audit, but not one with a later token")
    func revokedAndSilent() {
        let stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        let other = stage.enter("alice", "tablet", issued: stage.redis.time)
        let proven = stage.enter("alice", "laptop")
        stage.settle()
        stage.pass(.seconds(1))
        let revoked = stage.redis.revokeTokens(of: "alice")
        let fresh = stage.enter("alice", "desk", issued: revoked)
        stage.pass(ShardSettings.auditCycle + .seconds(2))
        #expect(stage.closed == [key: .badToken, other: .badToken])
        #expect(Set(stage.shard.table.all) == [proven, fresh])
        #expect(stage.redis.record(of: "alice").devices.filter { $0.value.state != nil }.count == 2)
        #expect(stage.shard.tally.auditMended == 0)
    }

    /// Regression: the session was closed for good, although its token was valid.
    @Test("a new token that arrives while a write is refused because of the old one keeps the session")
    func refreshedMeanwhile() {
        let stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.seconds(1))
        let revoked = stage.redis.revokeTokens(of: "alice")
        stage.say(.state(.idle), id: "s", on: key)
        stage.show(Proof(user: "alice", device: "phone", issued: revoked), on: key)
        stage.settle()
        #expect(stage.closed.isEmpty)
        #expect(stage.heard(by: key).acks == ["s"])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .away)
    }

    @Test("a new token keeps the session across the revocation")
    func refreshed() {
        let stage = Stage()
        let key = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        stage.pass(.seconds(1))
        let revoked = stage.redis.revokeTokens(of: "alice")
        stage.show(Proof(user: "alice", device: "phone", issued: revoked), on: key)
        stage.say(.state(.idle), on: key)
        stage.settle()
        #expect(stage.closed.isEmpty)
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .away)
    }
}
