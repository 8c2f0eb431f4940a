import RedisTwin
import RollcallModel
import Testing

@testable import RollcallCore

/// What observers are shown of the devices of workers that died, or may have.
@Suite struct JudgingStories {
    @Test("a device of a worker that was swept and forgotten is no ghost, for whoever looks first")
    func forgotten() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline", "alice offline"])
        #expect(Set(stage.swept.map(\.name)) == [session("alice", "tv", "x")], "and it is swept")
    }

    @Test("a device of a worker that began after the last heartbeat counts")
    func justBegun() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(5))]
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
        #expect(stage.swept.isEmpty)
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

    @Test("while heartbeats fail nobody is judged, though every lease runs out")
    func failingHeartbeats() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(5))]
        stage.heartbeat()
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.pass(.seconds(6), answering: false)
        stage.subscriberGoes()
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
    }

    @Test("what is published while a dead worker is not swept counts its devices, and shows no ghost")
    func publishedBesideTheDead() {
        var stage = Stage()
        let (bob, tablet) = (stage.enter("bob"), stage.enter("alice", "tablet", state: .background))
        stage.settle()
        die(w2, holding: "alice", in: &stage)
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        stage.say(.state(.idle), on: tablet)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"], "published was: online")
        stage.say(.state(.background), on: tablet)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
    }

    @Test("what is published counts the devices of the dead whom Redis forgot, too, and shows no ghost")
    func publishedBesideTheForgotten() {
        var stage = Stage()
        let (bob, tablet) = (stage.enter("bob"), stage.enter("alice", "tablet", state: .background))
        stage.settle()
        die(w2, holding: "alice", in: &stage)
        stage.others = [:]
        stage.heartbeat()
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        stage.say(.state(.idle), on: tablet)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"], "published was: online")
    }

    @Test("who is masked and then swept is told to be offline once")
    func maskedThenSwept() {
        var stage = Stage()
        let bob = stage.enter("bob")
        die(w2, holding: "alice", in: &stage)
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        let heard = stage.heard(by: bob)
        #expect(heard.statuses == ["alice offline"])
        _ = stage.redis.sweep([session("alice", "tv", "x")], of: w2, until: stage.redis.time)
        #expect(stage.redis.record(of: "alice").lastSeen == heard.lastSeen)
        stage.settle()
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    @Test("after a gap of more than two heartbeats others may have been unable to renew: what was seen stays a lease")
    func gap() {
        var stage = Stage()
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(2))]
        stage.heartbeat()
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
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
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(5))]
        stage.heartbeat()
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
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
        let bob = stage.enter("bob")
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(5))]
        stage.heartbeat()
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
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
        die(w2, holding: "alice", in: &stage)
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

    @Test("a read from before the channel was lost is read again: what came since may be missing from both")
    func readAcrossLoss() {
        var stage = Stage()
        let (bob, alice) = (stage.enter("bob"), stage.enter("alice"))
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.say(.watch(["alice"]), on: bob)
        stage.confirm()
        let read = stage.asked.removeFirst()
        let event = stage.reply(to: read)
        stage.subscriberGoes()
        stage.say(.state(.idle), on: alice)
        stage.answer()
        stage.redis.published = []
        stage.event(event)
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice away"])
    }

    @Test("with a lease of one second, an idle user is not offline for want of patience")
    func shortLease() {
        var settings = ShardSettings()
        settings.lease = .seconds(1)
        var stage = Stage(settings)
        let (bob, _) = (stage.enter("bob"), stage.enter("alice", state: .idle))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisGoes()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.pass(.seconds(5))
        #expect(stage.heard(by: bob).statuses.isEmpty)
    }

    @Test("what says less waits a second after an outage, whatever replies come meanwhile; a change goes at once")
    func saysLessLater() {
        var stage = Stage()
        let (phone, tablet) = (
            stage.enter("alice", "phone", state: .idle), stage.enter("alice", "tablet", state: .background)
        )
        let laptop = stage.enter("alice", "laptop")
        stage.settle()
        stage.redisGoes()
        stage.redis.records = [:]
        stage.redisReturns()
        stage.event { $0.listed(phone, under: w1, at: $1) }
        stage.settle()
        #expect(stage.redis.record(of: "alice").devices.keys.sorted() == ["laptop"])
        stage.say(.state(.idle), on: tablet)
        stage.settle()
        #expect(stage.redis.record(of: "alice").devices.keys.sorted() == ["laptop", "tablet"])
        stage.pass(.milliseconds(1100))
        #expect(stage.redis.record(of: "alice").devices.keys.sorted() == ["laptop", "phone", "tablet"])
        _ = laptop
    }

    @Test("where Redis knows the former lease still, what says less is said before it passes")
    func saysLessInTime() throws {
        var stage = Stage()
        _ = stage.enter("alice", state: .idle)
        stage.settle()
        let former = try #require(stage.incarnation)
        stage.redisGoes()
        stage.others[former] = stage.redis.time.advanced(by: .milliseconds(800))
        stage.redisReturns()
        stage.pass(.milliseconds(549))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == former)
        stage.pass(.milliseconds(1))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == stage.incarnation)
    }

    @Test("what says less does not wait anew after a further loss, where Redis has forgotten nothing since")
    func waitsOnce() throws {
        var stage = Stage()
        _ = stage.enter("alice", state: .idle)
        stage.settle()
        stage.redisGoes()
        stage.redisReturns()
        stage.pass(.milliseconds(900))
        let waiting = try #require(stage.incarnation)
        stage.redisGoes()
        stage.others[waiting] = stage.redis.time.advanced(by: .seconds(5))
        stage.redisReturns()
        stage.pass(.milliseconds(100))
        #expect(stage.redis.record(of: "alice").devices["phone"]?.incarnation == stage.incarnation)
    }

    private func elsewhere(_ user: UserID, _ time: Timestamp, of worker: Incarnation = w2) -> PresenceRecord {
        PresenceRecord(
            user: user, devices: ["tv": device(.active, of: worker, time)], lastSeen: time, updatedAt: time,
            version: time.milliseconds)
    }

    private func device(_ state: DeviceState, of incarnation: Incarnation, _ time: Timestamp) -> DeviceRecord {
        DeviceRecord(
            state: state, incarnation: incarnation, began: time, session: SessionID(random: "x"), sequence: 1,
            since: time, lost: nil)
    }

    /// A worker dies that holds an active device of this user, beside what stands already; nobody has swept it.
    private func die(_ worker: Incarnation, holding user: UserID, in stage: inout Stage) {
        var record = stage.redis.record(of: user)
        record.devices["tv"] = device(.active, of: worker, stage.redis.time)
        record.version += 1
        record.updatedAt = stage.redis.time
        stage.redis.records[user] = record
        stage.others = [worker: stage.redis.time.advanced(by: .milliseconds(-1))]
        stage.heartbeat()
        stage.settle()
        stage.forgetWhatWasSaid()
    }
}

extension [ServerMessage] {
    fileprivate var lastSeen: Timestamp? {
        compactMap { message -> Timestamp? in
            guard case .presence(let users, _) = message else { return nil }
            return users.last?.lastSeen
        }.last
    }
}
