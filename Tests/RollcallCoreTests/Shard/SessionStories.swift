import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

@Suite struct SessionStories {
    @Test("a hello is listed, written and then acknowledged, in this order")
    func hello() {
        let stage = Stage()
        let key = stage.enter("alice", id: "h")
        guard case .welcome? = stage.heard(by: key).first else { return #expect(Bool(false), "no welcome") }
        guard case .list? = stage.asked.first?.request else { return #expect(Bool(false), "not listed") }
        stage.answer()
        guard case .write? = stage.asked.first?.request else { return #expect(Bool(false), "not written") }
        #expect(stage.heard(by: key).isEmpty)
        stage.answer()
        #expect(stage.heard(by: key).acks == ["h"])
    }

    /// Regression: by the worker's estimate of Redis's time, the newer session began before the older one.
    @Test("a device that changes workers after Redis's clock was set forward by less than a second is not refused")
    func clockSetForward() {
        let stage = Stage()
        stage.redis.setClock(by: .milliseconds(900))
        var record = elsewhere("alice", stage.redis.time)
        record.devices = ["phone": device(.active, of: w2, stage.redis.time)]
        stage.redis.records["alice"] = record
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(60))]
        stage.pass(.milliseconds(300))
        let phone = stage.enter("alice")
        stage.settle()
        stage.pass(.seconds(1))
        #expect(stage.closed[phone] == nil)
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == stage.incarnation)
    }

    @Test("a device that returns within the grace period takes over, and never appears offline")
    func returns() {
        let stage = Stage()
        let watcher = stage.enter("bob")
        stage.say(.watch(["alice"]), on: watcher)
        let first = stage.enter("alice")
        stage.settle()
        stage.drop(first)
        stage.pass(.seconds(2))
        let second = stage.enter("alice")
        stage.pass(.seconds(10))
        #expect(!stage.heard(by: watcher).statuses.dropFirst().contains("alice offline"))
        #expect(stage.shard.table.count == 2)
        #expect(stage.closed[second] == nil)
    }

    @Test("a newer session of the device closes the older one")
    func replaced() {
        let stage = Stage()
        let first = stage.enter("alice")
        stage.settle()
        stage.pass(.milliseconds(5))
        let second = stage.enter("alice")
        stage.settle()
        #expect(stage.closed == [first: .replaced])
        #expect(stage.heard(by: first).last == .goodbye(.init(reason: .replaced, reconnect: false)))
        #expect(stage.shard.table.all == [second])
    }

    @Test("a hello that is read late, on a connection older than the device's session, takes nothing over")
    func lateHello() {
        let stage = Stage()
        let abandoned = stage.connect()
        stage.pass(.seconds(2))
        let current = stage.enter("alice")
        stage.settle()
        stage.pass(.milliseconds(100))
        _ = stage.enter("alice", on: abandoned)
        stage.settle()
        #expect(stage.closed == [abandoned: .replaced])
        stage.drop(abandoned)
        stage.pass(.seconds(10))
        #expect(stage.shard.table.all == [current])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
    }

    @Test("a goodbye takes effect at once")
    func goodbye() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.say(.goodbye, id: "g", on: key)
        stage.settle()
        #expect(stage.heard(by: key).acks == ["g"])
        #expect(stage.closed == [key: .normal])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
        #expect(stage.leftovers.isEmpty)
    }

    @Test("a connection without a hello is closed, and one without a session leaves nothing")
    func late() {
        let stage = Stage()
        let key = stage.connect()
        stage.pass(.seconds(20))
        #expect(stage.closed == [key: .late])
        #expect(stage.leftovers.isEmpty)
    }

    @Test("messages after a hello wait until Redis has told that its token counts, and are processed in order")
    func messagesWait() {
        let stage = Stage()
        let key = stage.connect()
        _ = stage.enter("alice", issued: stage.redis.time, on: key)
        stage.say(.join("c", presence: false), id: "j", on: key)
        stage.say(.leave("c"), id: "l", on: key)
        #expect(stage.heard(by: key).answered.isEmpty)
        stage.settle()
        #expect(stage.heard(by: key).answered == ["j", "l"])
    }

    /// Regression: they ended the session before its token was verified, one with 4102, the others with 4103 and no
    /// goodbye.
    @Test("no message after a hello counts before its token is known to count, and the edge stops reading")
    func nothingCountsYet() {
        for isGood in [true, false] {
            let stage = Stage()
            if !isGood { stage.redis.revokeTokens(of: "alice") }
            let key = stage.enter("alice", issued: stage.redis.time.advanced(by: .milliseconds(isGood ? 0 : -1)))
            #expect(stage.held == [key] && stage.heard(by: key).count == 1, "a welcome")
            for _ in 0..<150 { stage.say(.ping, on: key) }
            stage.event { $0.received(MessageError(code: .unknownType, id: nil, message: "?"), on: key, at: $1) }
            stage.event { $0.receivedGarbage(on: key, at: $1) }
            #expect(stage.heard(by: key).isEmpty && stage.closed.isEmpty)
            stage.settle()
            #expect(stage.heard(by: key).count == (isGood ? 151 : 1), "150 pongs and an error, or a goodbye")
            #expect(stage.closed == [key: isGood ? .badMessage : .tokenExpired])
        }
    }

    @Test("a hello with a bad token ends the session, and nothing after it counts")
    func badHello() {
        let stage = Stage()
        let key = stage.connect()
        stage.proof = .failure(ProofRefusal(.badToken(because: ""), endsWelcomed: false))
        stage.say(.hello(.init(token: "alice", device: "phone")), on: key)
        stage.say(.ping, on: key)
        #expect(stage.heard(by: key).isEmpty && stage.closed == [key: .badToken])
        #expect(stage.leftovers.isEmpty)
    }

    /// Regression: a page of Alice went on as Bob, who had signed in in another tab.
    @Test("a token of another user than the client's last session ends it, and nothing was written of either")
    func anotherUser() {
        let stage = Stage()
        let key = stage.connect()
        stage.proof = .success(Proof(user: "bob", device: "phone"))
        stage.say(.hello(.init(token: "bob", device: "phone", user: "alice")), on: key)
        #expect(stage.heard(by: key) == [.goodbye(.init(reason: .anotherUser, reconnect: false))])
        #expect(stage.closed == [key: .anotherUser] && stage.leftovers.isEmpty)
        #expect(stage.redis.published.isEmpty)
        stage.proof = nil
    }

    /// Regression: the session stayed open forever: its connection was closed, and the edge does not report what the
    /// shard closes.
    @Test("a new token keeps the session beyond the expiry of the old one, and its own expiry ends it")
    func freshToken() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        let lives: [(Duration, MessageID)] = [(.seconds(10), "first"), (.seconds(20), "second")]
        for (life, id) in lives {
            stage.show(Proof(user: "alice", device: "phone", lifetime: life), id: id, on: key)
        }
        #expect(stage.heard(by: key).acks.suffix(2) == ["first", "second"])
        stage.pass(.seconds(19))
        #expect(stage.closed.isEmpty)
        stage.pass(.seconds(2))
        #expect(stage.closed == [key: .tokenExpired])
    }

    @Test("a token older than the previous one neither prolongs nor shortens the session")
    func olderToken() {
        for life in [Duration.seconds(5), .seconds(3600)] {
            let stage = Stage()
            let issued = stage.redis.time
            let key = stage.enter("alice", issued: issued)
            stage.settle()
            let lives = [(Duration.seconds(20), issued), (life, issued.advanced(by: .seconds(-60)))]
            for (life, issued) in lives {
                stage.show(Proof(user: "alice", device: "phone", lifetime: life, issued: issued), on: key)
            }
            stage.pass(.seconds(19))
            #expect(stage.closed.isEmpty)
            stage.pass(.seconds(2))
            #expect(stage.closed == [key: .tokenExpired])
        }
    }

    @Test("a fresh token with another name is a change that observers see; one with the same, or without, is none")
    func renewedName() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.say(.watch(["alice"]), on: bob)
        let alice = stage.enter("alice", issued: stage.redis.time)
        stage.settle()
        _ = stage.heard(by: bob)
        func seen(_ name: ByteString?, issuedAfter seconds: Int) -> [String?] {
            let issued = stage.redis.time.advanced(by: .seconds(seconds - 10))
            stage.show(
                Proof(user: "alice", device: "phone", issued: issued, grant: Grant(profile: Profile(name: name))),
                on: alice)
            stage.pass(.seconds(1))
            return stage.heard(by: bob).flatMap { message -> [String?] in
                if case .presence(let presences, _) = message { presences.map(\.name) } else { [] }
            }
        }
        #expect(seen("Ada", issuedAfter: 11) == ["Ada"])
        #expect(seen("Ada", issuedAfter: 11).isEmpty)
        #expect(seen(nil, issuedAfter: 12).isEmpty)
        #expect(seen("Ada L.", issuedAfter: 12) == ["Ada L."])
        #expect(seen("Adele", issuedAfter: 0).isEmpty, "an older token")
        #expect(stage.redis.record(of: "alice").presence(past: [:]).name == "Ada L.")
        stage.say(.join("c", presence: false), on: alice)
        stage.say(.join("c", presence: false), on: bob)
        stage.settle()
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        guard case .typing(let typing)? = stage.heard(by: bob).last else {
            Issue.record("nobody types")
            return
        }
        #expect(typing.users.map(\.name) == ["Ada L."])
    }

    /// Regression: a renewal that came before its key closed 20 of 20 pages for good.
    @Test(
        "a refused renewal leaves the session with the token that it has, until that expires",
        arguments: [
            (SessionEnd.busy(because: "rule: sentence"), MessageError.Code.unavailable),
            (.badToken(because: "rule: sentence"), .badRequest),
            (.tokenExpired(because: "rule: sentence"), .badRequest),
        ])
    func refusedRenewal(end: SessionEnd, answer: MessageError.Code) {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.show(Proof(user: "alice", device: "phone", lifetime: .seconds(10)), on: key)
        stage.proof = .failure(ProofRefusal(end, endsWelcomed: false))
        stage.say(.token("t"), id: "t", on: key)
        #expect(
            stage.heard(by: key).last
                == .error(
                    .init(code: answer, id: "t", message: "the token is not accepted: rule: sentence")))
        stage.pass(.seconds(9))
        #expect(stage.closed.isEmpty)
        stage.pass(.seconds(2))
        #expect(stage.closed == [key: .tokenExpired])
    }

    @Test("a token whose key is not there yet makes the device come back, and says so")
    func unknownKey() {
        let stage = Stage()
        let key = stage.connect()
        stage.proof = .failure(ProofRefusal(.busy(.unknownKey), endsWelcomed: false))
        stage.say(.hello(.init(token: "alice", device: "phone")), on: key)
        #expect(stage.heard(by: key) == [.goodbye(.init(reason: .unknownKey, reconnect: true, after: 2000))])
        #expect(stage.closed == [key: .busy])
    }

    @Test("a new token of another user ends the session without a grace period")
    func wrongToken() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.show(Proof(user: "mallory", device: "phone"), on: key)
        stage.pass(.seconds(6))
        #expect(stage.closed == [key: .anotherUser])
        #expect(stage.leftovers.isEmpty)
    }

    /// Regression: the timer of the hello's deadline stayed set, and the later one of the drain was lost with it.
    @Test("a drain includes sessions that have just connected, and those that connect during it")
    func drain() {
        let stage = Stage()
        let keys = (0..<20).map { stage.enter(try! UserID("u\($0)")) }
        stage.settle()
        stage.pass(.seconds(3))
        stage.event { $0.drain(over: .seconds(4), at: $1) }
        let late = stage.enter("late")
        stage.pass(.seconds(4))
        #expect(stage.shard.isDrained)
        #expect(stage.closed == Dictionary(uniqueKeysWithValues: (keys + [late]).map { ($0, CloseCode.draining) }))
    }

    @Test("while Redis is away, a state change is acknowledged once, when Redis returns")
    func stateWhileAway() {
        let stage = Stage()
        let key = stage.enter("alice")
        stage.settle()
        stage.redisGoes()
        stage.say(.state(.idle), id: "s", on: key)
        stage.pass(.seconds(20))
        #expect(stage.heard(by: key).acks.isEmpty)
        stage.redisReturns()
        stage.pass(.seconds(3))
        #expect(stage.heard(by: key).acks == ["s"])
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .away)
    }

    @Test("a device that connects and leaves while Redis is away causes no write")
    func visitWhileAway() {
        let stage = Stage(redisIsThere: false)
        let (first, second) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.goodbye, on: first)
        stage.drop(second)
        stage.pass(.seconds(6))
        #expect(stage.leftovers.isEmpty)
    }

    @Test("replies to a former incarnation change nothing under the next one")
    func staleReplies() {
        let stage = Stage()
        let key = stage.enter("alice", id: "h")
        stage.answer()
        let write = stage.asked.removeFirst()
        guard case .write = write.request else { return #expect(Bool(false), "no write") }
        stage.redisReturns()
        stage.arrives(stage.reply(to: write))
        stage.fail(write)
        #expect(stage.heard(by: key).acks.isEmpty)
        stage.settle()
        #expect(stage.heard(by: key).acks == ["h"])
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == stage.incarnation)
    }

    @Test("late replies for a freed slot do not affect its next session")
    func freedSlot() {
        let stage = Stage()
        let first = stage.enter("alice")
        let list = stage.asked.removeFirst()
        guard case .list(let names) = list.request else { return #expect(Bool(false), "not listed") }
        stage.event { $0.noticed(.replaced(names[0]), at: $1) }
        let event = stage.reply(to: list)
        stage.arrives(event)
        stage.settle()
        let second = stage.enter("bob", id: "h")
        #expect(second.number == first.number)
        stage.arrives(event)
        stage.event { $0.records.unlisted(first, under: w1, at: $1) }
        #expect(stage.heard(by: second).acks.isEmpty)
        stage.settle()
        #expect(stage.heard(by: second).acks == ["h"])
        #expect(stage.redis.records["alice"] == nil)
    }
}
