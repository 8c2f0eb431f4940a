import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

/// What observers are shown after Redis was emptied, went back in time or was away, or after a pause of the worker itself.
@Suite struct OutageStories {
    @Test("over an emptied Redis a user who is still there never seems offline; one who is gone does, after a lease")
    func emptied() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records = ["alice": elsewhere("alice", stage.redis.time)]
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(60))]
        stage.redis.records["dave"] = elsewhere("dave", stage.redis.time)
        stage.say(.watch(["alice", "dave"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.settle()
        stage.pass(.seconds(2))
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.pass(.milliseconds(2900))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.seconds(1))
        #expect(stage.heard(by: bob).statuses == ["dave offline"])
    }

    /// A worker that had just started took nothing for settled of an outage that it had not seen.
    @Test("after an outage, and at the start, it takes a lease until all is known")
    func settles() {
        var stage = Stage()
        #expect(stage.shard.settles(at: stage.now) == .seconds(5))
        stage.pass(.seconds(5))
        #expect(stage.shard.settles(at: stage.now) == nil)
        stage.redisGoes()
        stage.redisReturns()
        #expect(stage.shard.settles(at: stage.now) == .seconds(5))
        stage.pass(.seconds(4))
        #expect(stage.shard.settles(at: stage.now) == .seconds(1))
        stage.pass(.seconds(2))
        #expect(stage.shard.settles(at: stage.now) == nil)
    }

    @Test("a read between the emptying of Redis and the next heartbeat shows nobody offline")
    func emptiedUnawares() {
        var stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(60))
        stage.redis.records = [:]
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.subscriberGoes()
        stage.settle()
        stage.redisReturns()
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online", "alice online"])
    }

    @Test("of channels that are lost alone, only what they tell of waits, and is read again when it is confirmed")
    func channelsLostAlone() {
        var stage = Stage()
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
            stage.redis.published.append(.presence(here.presence(past: [:]), devices: 1))
        }
        while !stage.redis.published.isEmpty { stage.hear() }
        stage.settle()
        #expect(Set(stage.heard(by: bob).statuses) == ["carol online", "dave online"])
        stage.say(.typing("c", true), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).contains { if case .typing = $0 { true } else { false } })
    }

    @Test("a change that overtakes an authoritative read is not undone by it")
    func overtakenRead() {
        var stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(60))
        stage.redisReturns()
        stage.pass(.milliseconds(4900))
        stage.pass(.milliseconds(200), answering: false)
        let read = stage.reply(to: stage.asked.removeFirst())
        let gone = elsewhere("alice", stage.redis.time, state: nil)
        stage.redis.records["alice"] = gone
        stage.redis.published = [.presence(gone.presence(past: [:]), devices: 0)]
        stage.hear()
        stage.event(read)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.last == "alice offline")
    }

    @Test("nor one that is read anew, because dead workers are not swept yet")
    func overtakenBesideTheDead() {
        var stage = Stage()
        let bob = stage.enter("bob")
        let gone = elsewhere("alice", stage.redis.time, state: nil)
        stage.redis.records = ["alice": gone]
        let dead = Incarnation(name: "w3.c")
        stage.others = [
            w2: stage.redis.time.advanced(by: .seconds(60)), dead: stage.redis.time.advanced(by: .seconds(3)),
        ]
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.redisReturns()
        stage.pass(.milliseconds(4900))
        stage.pass(.milliseconds(200), answering: false)
        let read = stage.reply(to: stage.asked.removeFirst())
        let here = elsewhere("alice", stage.redis.time)
        stage.redis.records["alice"] = here
        stage.redis.published = [.presence(here.presence(past: [:]), devices: 1)]
        stage.hear()
        stage.answer()
        stage.event(read)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline", "alice online"])
    }

    @Test("an authoritative read that is answered after a further outage does not count")
    func readBeforeOutage() {
        var stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(60))
        stage.redisReturns()
        stage.pass(.milliseconds(4900))
        stage.redis.records = [:]
        stage.pass(.milliseconds(200), answering: false)
        let read = stage.reply(to: stage.asked.removeFirst())
        stage.redisReturns()
        stage.event(read)
        #expect(stage.heard(by: bob).statuses == ["alice online"])
    }

    @Test("an authoritative read that finds the channel lost is asked for again, and counts")
    func authoritativeReadAcrossLoss() {
        var stage = Stage()
        let bob = stage.enter("bob")
        let old = stage.redis.time
        stage.redis.records = ["alice": elsewhere("alice", old.advanced(by: .seconds(1)))]
        stage.others = [w2: old.advanced(by: .seconds(60))]
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        // Redis goes back to where Alice was not there.
        stage.redisReturns()
        stage.redis.records = ["alice": elsewhere("alice", old, state: nil)]
        stage.pass(.milliseconds(4900))
        stage.pass(.milliseconds(200), answering: false)
        let read = stage.reply(to: stage.asked.removeFirst())
        stage.subscriberGoes()
        stage.event(read)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online", "alice offline"])
    }

    @Test("a second new incarnation begins the lease of patience anew")
    func patience() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records = ["alice": elsewhere("alice", stage.redis.time)]
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.pass(.seconds(3))
        stage.redisReturns()
        stage.pass(.seconds(4))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.seconds(2))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("nobody is dead to a Redis that was emptied unawares, of whom this worker had not heard before")
    func unknownToAnEmptiedRedis() {
        var stage = Stage()
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
        "who has written since Redis was emptied counts for whoever asks first, before its worker's lease is there again"
    )
    func writtenBeforeItsLease() {
        var stage = Stage()
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

    @Test("after an outage in which every lease passed, those count for whoever asks first whose had not passed before")
    func passedInTheOutage() {
        var stage = Stage()
        let bob = stage.enter("bob")
        let (w3, start) = (Incarnation(name: "w3.c"), stage.redis.time)
        stage.redis.records = ["alice": elsewhere("alice", start), "dave": elsewhere("dave", start, of: w3)]
        stage.others = [w2: start.advanced(by: .seconds(3)), w3: start.advanced(by: .seconds(1))]
        stage.pass(.seconds(2))
        stage.redisGoes()
        stage.pass(.seconds(2))
        stage.redisReturns()
        stage.say(.watch(["alice", "dave"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online", "dave offline"])
        stage.pass(.seconds(6))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("after a gap in which this worker kept its lease, whose lease passed does not count for whoever asks first")
    func passedInAGap() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(2))]
        stage.pass(.seconds(1))
        stage.pass(.seconds(3), answering: false)
        stage.heartbeat(afterGap: true)
        stage.say(.get(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("after a gap of more than two heartbeats others may have been unable to renew: what was seen stays a lease")
    func gap() {
        var stage = Stage()
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

    @Test("patience after an outage does not end in the next one")
    func furtherOutage() {
        var stage = Stage()
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

    @Test("after an outage a newer record counts as it stands, the devices of those who have not come back yet with it")
    func newerAfterOutage() {
        var stage = Stage()
        let bob = stage.bobWatchesAlice(elsewhereFor: .seconds(5))
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.pass(.seconds(10))
        // Her background device, at another worker, was faster than her active one.
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

    @Test("who was dead before an outage is no ghost after it, beside another device that is said again")
    func deadBeforeTheOutage() {
        var stage = Stage()
        let (bob, _) = (stage.enter("bob"), stage.enter("alice", "tablet", state: .background))
        stage.settle()
        stage.diesHolding("alice")
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        stage.redisGoes()
        stage.redisReturns()
        stage.pass(.seconds(2))
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .online)
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    @Test("a Redis that went back in time counts a lease after it is back, whatever its versions")
    func wentBack() {
        var stage = Stage()
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

    @Test("who was at another primary all the while is there once that is found; whose lease had passed is not")
    func elsewhereAllTheWhile() {
        var stage = Stage()
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
        #expect(Set(stage.heard(by: bob).statuses) == ["alice online", "dave offline"], "and when he was last seen")
        stage.pass(.seconds(8))
        #expect(stage.heard(by: bob).isEmpty)
    }

    /// The versions of before were ahead of the clock, and what was new was shown only when the outage was settled.
    @Test("where Redis lost everything after its clock was set back, a change is shown at once")
    func changeOverEmptiedRedisSetBack() {
        var stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.redis.setClock(by: .seconds(-600))
        stage.heartbeat()
        stage.settle()
        stage.say(.state(.idle), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline", "alice online", "alice away"])
        stage.redisGoes()
        stage.redis.flush()
        stage.redisReturns()
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.say(.state(.active), on: alice)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
    }

    /// What a restored Redis holds of before is ahead of its clock as well, and older.
    @Test("where Redis is restored after its clock was set back, what it holds of before is not shown")
    func restoredRedisSetBack() {
        var stage = Stage()
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
