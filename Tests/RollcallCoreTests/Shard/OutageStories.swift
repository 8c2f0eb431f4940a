import RedisTwin
import RollcallProtocol
import Testing

@testable import RollcallCore

/// What observers are shown after Redis was emptied, went back in time or was away, or after the worker itself was
/// paused.
@Suite struct OutageStories {
    /// Regression: a worker that had just started treated an outage that it had not seen as settled.
    @Test("after an outage, and at the start, it takes a lease until everything is known")
    func settles() {
        let stage = Stage()
        #expect(stage.shard.redis.judgement.rest(at: stage.now) == .seconds(5))
        stage.pass(.seconds(5))
        #expect(stage.shard.redis.judgement.rest(at: stage.now) == nil)
        stage.redisGoes()
        stage.redisReturns()
        #expect(stage.shard.redis.judgement.rest(at: stage.now) == .seconds(5))
        stage.pass(.seconds(4))
        #expect(stage.shard.redis.judgement.rest(at: stage.now) == .seconds(1))
        stage.pass(.seconds(2))
        #expect(stage.shard.redis.judgement.rest(at: stage.now) == nil)
    }

    @Test("if single channels are lost, only their subjects wait, and are read again when the channel is confirmed")
    func channelsLostAlone() {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        for key in [alice, bob] { stage.say(.join("c", presence: false), on: key) }
        stage.say(.watch(["carol", "dave"]), on: bob)
        stage.settle()
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(60))]
        stage.heartbeat()
        stage.settle()
        stage.forgetWhatWasSaid()
        for topic in [Topic.presence("carol"), .typing("c"), .members("c")] { stage.channelGoes(topic) }
        for name in ["carol", "dave"] as [UserID] {
            let here = elsewhere(name, stage.redis.time)
            stage.redis.records[name] = here
            stage.redis.published.append(.presence(PresenceChange(here.presence(past: [:])), devices: 1))
        }
        while !stage.redis.published.isEmpty { stage.hear() }
        stage.settle()
        #expect(Set(stage.heard(by: bob).statuses) == ["carol online", "dave online"])
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).contains { if case .typing = $0 { true } else { false } })
    }

    @Test("an authoritative read that is answered after a further outage does not count")
    func readBeforeOutage() {
        let stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(60))
        stage.redisReturns()
        stage.pass(.milliseconds(4900))
        stage.redis.records = [:]
        stage.pass(.milliseconds(200), answering: false)
        stage.heartbeat()
        let read = stage.reply(to: stage.asked.removeFirst())
        stage.redisReturns()
        stage.arrives(read)
        #expect(stage.heard(by: bob).statuses == ["alice online"])
    }

    @Test("an authoritative read that finds the channel lost is repeated, and counts")
    func authoritativeReadAcrossLoss() {
        let stage = Stage()
        let bob = stage.enter("bob")
        let old = stage.redis.time
        stage.redis.records = ["alice": elsewhere("alice", old.advanced(by: .seconds(1)))]
        stage.others = [w2: old.advanced(by: .seconds(60))]
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        // Redis goes back to a state in which Alice was offline.
        stage.redisReturns()
        stage.redis.records = ["alice": elsewhere("alice", old, state: nil)]
        stage.pass(.milliseconds(4900))
        stage.pass(.milliseconds(200), answering: false)
        stage.heartbeat()
        let read = stage.reply(to: stage.asked.removeFirst())
        stage.subscriberGoes()
        stage.arrives(read)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online", "alice offline"])
    }

    @Test("after a second new incarnation the rest of the waiting time is waited, and the two seconds of each outage")
    func patience() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records = ["alice": elsewhere("alice", stage.redis.time)]
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.pass(.seconds(3))
        stage.redisReturns()
        stage.pass(.milliseconds(3900))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.seconds(1))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("after Redis was emptied unnoticed, a worker unknown before is not treated as dead")
    func unknownToAnEmptiedRedis() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.leasesAreLost = true
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.say(.watch(["alice"]), on: bob)
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online", "alice online"])
        #expect(stage.swept.isEmpty)
    }

    @Test(
        "a user written since Redis was emptied counts for new observers, before its worker's lease is written again"
    )
    func writtenBeforeItsLease() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.redisGoes()
        stage.redisReturns()
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        stage.say(.watch(["alice"]), on: bob)
        stage.pass(.seconds(6))
        #expect(stage.heard(by: bob).statuses == ["alice online", "alice offline"], "whose lease never came")
    }

    @Test("after an outage, a worker that died before it counts for new observers, for one lease")
    func passedBeforeTheOutage() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(1))]
        stage.pass(.seconds(2))
        stage.redisGoes()
        stage.redisReturns()
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        stage.pass(.seconds(6))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("after a gap of more than two heartbeats, others may have failed to renew: what was seen stays for a lease")
    func gap() {
        let stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(2))
        stage.forgetWhatWasSaid()
        stage.pass(.seconds(4), answering: false)
        stage.heartbeat(afterGap: true)
        stage.settle()
        stage.pass(.milliseconds(4900))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.milliseconds(200))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("the waiting time after an outage does not end during the next one")
    func furtherOutage() {
        let stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(5))
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.pass(.seconds(6))
        stage.redisReturns()
        stage.pass(.seconds(1))
        stage.pass(.seconds(6), answering: false)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.heartbeat(afterGap: true)
        stage.pass(.seconds(6))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("after an outage, a newer record counts with all devices, including those not written again yet")
    func newerAfterOutage() {
        let stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(5))
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.pass(.seconds(10))
        // Her background device, at another worker, reconnected before her active one.
        let other = Incarnation(name: "w3.c")
        stage.others[other] = stage.redis.time.advanced(by: .seconds(60))
        var record = elsewhere("alice", stage.redis.time)
        record.devices["phone"] = device(.background, of: other, stage.redis.time)
        stage.redis.records["alice"] = record
        stage.redisReturns()
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.say(.get(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"], "a read says what is shown")
        stage.pass(.seconds(6))
        #expect(stage.heard(by: bob).statuses == ["alice offline"], "but for a lease only")
    }

    @Test("after an outage, a user who was dead before counts for one lease, if another device is written again")
    func deadBeforeTheOutage() {
        let stage = Stage()
        let (bob, _) = (stage.enter("bob"), stage.enter("alice", "tablet", state: .background))
        stage.settle()
        stage.diesHolding("alice")
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        stage.redisGoes()
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        stage.pass(.seconds(4))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("a Redis that went back in time counts one lease after it returned, whatever its versions")
    func wentBack() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(60))]
        stage.heartbeat()
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        var older = elsewhere("alice", stage.redis.time.advanced(by: .seconds(-30)))
        older.devices["tv"]?.state = .idle
        stage.redis.records["alice"] = older
        stage.redisReturns()
        stage.pass(.milliseconds(4900))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.milliseconds(200))
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    @Test("a user on another primary all the time is shown once it is found; one with an expired lease for one lease")
    func elsewhereAllTheWhile() {
        let stage = Stage()
        let bob = stage.enter("bob")
        let (w3, start) = (Incarnation(name: "w3.c"), stage.redis.time)
        stage.pass(.seconds(1))
        stage.say(.watch(["alice", "dave"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline", "dave offline"])
        stage.redisGoes()
        stage.redis.records = ["alice": elsewhere("alice", start), "dave": elsewhere("dave", start, of: w3)]
        stage.others = [w2: start.advanced(by: .seconds(60)), w3: start.advanced(by: .milliseconds(500))]
        stage.redisReturns()
        stage.settle()
        #expect(Set(stage.heard(by: bob).statuses) == ["alice online", "dave online"])
        stage.pass(.seconds(8))
        #expect(stage.heard(by: bob).statuses == ["dave offline"])
    }

    /// Regression: the worker took the change for one from before a step of Redis's clock, because its latest heartbeat
    /// was old, and showed the record that it had read before.
    @Test("a read from before a worker was suspended does not undo what changed since")
    func readBeforeSuspension() throws {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.redisGoes()
        stage.redisReturns()
        while !stage.unconfirmed.isEmpty { stage.confirm() }
        let index = stage.asked.firstIndex { if case .presence = $0.request { true } else { false } }
        let late = stage.reply(to: stage.asked.remove(at: try #require(index)))
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.pass(.seconds(4), answering: false)
        stage.say(.state(.idle), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
        stage.arrives(late)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    /// A record made after the step has a smaller version than the one that was lost. It counts when the step, which is
    /// handled like an outage, has settled.
    @Test("if Redis lost everything after its clock was set back, the truth is shown after a lease")
    func changeOverEmptiedRedisSetBack() {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.redis.setClock(by: .seconds(-600))
        stage.heartbeat()
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.redis.flush()
        stage.redisReturns()
        stage.settle()
        stage.say(.state(.idle), on: alice)
        for _ in 0..<8 {
            stage.pass(.seconds(1))
            stage.settle()
        }
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    /// The restored data has versions ahead of the clock as well, but is older.
    @Test("if Redis is restored after its clock was set back, the restored data is not shown")
    func restoredRedisSetBack() {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        let copy = stage.redis
        stage.say(.state(.idle), on: alice)
        stage.settle()
        stage.redis.setClock(by: .seconds(-600))
        stage.heartbeat()
        stage.settle()
        stage.say(.state(.background), on: alice)
        stage.settle()
        stage.forgetWhatWasSaid()
        let time = stage.redis.time
        stage.redisGoes()
        stage.redis = copy
        stage.redis.time = time
        stage.redisReturns()
        stage.settle()
        stage.pass(.milliseconds(900))
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }
}
