import RedisTwin
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

/// What a shard does while Redis answers reads and refuses writes, and the cost of that once Redis accepts writes.
@Suite struct RefusedWritesStories {
    private func user(_ number: Int) -> UserID { try! UserID("u\(number)") }

    @Test("sessions that connect and leave while Redis refuses writes leave nothing, and are not written later")
    func comeAndGo() {
        let stage = Stage()
        let alice = stage.enter("alice")
        stage.settle()
        stage.redisRefusesWrites()
        stage.forgetWrites()
        for number in 0..<2000 {
            let key = stage.enter(user(number % 100), id: "h")
            stage.settle()
            #expect(stage.heard(by: key).contains { if case .welcome = $0 { true } else { false } })
            stage.say(.goodbye, on: key)
            stage.settle()
        }
        #expect(stage.shard.sessionCount == 1)
        stage.pass(.seconds(20))
        #expect(stage.writes.isEmpty, "Redis is not asked for what it refuses: \(stage.writes)")
        stage.redisTakesWrites(leaseStands: false)
        stage.pass(.seconds(10))
        #expect(stage.writes == ["list": 1, "write": 1], "alice, under the new incarnation")
        stage.say(.goodbye, on: alice)
        stage.pass(.seconds(1))
        #expect(stage.leftovers.isEmpty, "\(stage.leftovers)")
    }

    /// Before two heartbeats were refused, or if one of several primaries is absent.
    @Test("sessions whose steps are refused while heartbeats succeed leave nothing")
    func refusedUnawares() {
        let stage = Stage()
        for number in 0..<200 {
            let key = stage.enter(user(number))
            while !stage.asked.isEmpty { stage.refuse(stage.asked.removeFirst()) }
            if number.isMultiple(of: 2) { stage.say(.goodbye, on: key) } else { stage.drop(key) }
            while !stage.asked.isEmpty { stage.refuse(stage.asked.removeFirst()) }
        }
        #expect(stage.shard.sessionCount == 100 && stage.shard.unwrittenCount == 100, "those in grace")
        stage.forgetWrites()
        stage.pass(.seconds(6), answering: false)
        #expect(stage.leftovers.isEmpty, "\(stage.leftovers)")
        stage.heartbeat(afterGap: true)
        stage.settle()
        #expect(stage.writes.isEmpty, "\(stage.writes)")
    }

    /// Regression: everybody who looked at the app got push notifications, since all leases had passed.
    @Test("whoever is connected is reached, however long Redis refuses writes")
    func reach() throws {
        let stage = Stage()
        _ = stage.enter("alice")
        stage.settle()
        stage.redisRefusesWrites()
        stage.pass(.seconds(45))
        let snapshot = stage.redis.presence(of: ["alice"], known: KnownWorkers())
        #expect(snapshot.standings.values.map(\.isDead) == [true])
        #expect(stage.shard.reach(in: snapshot, at: stage.now)["alice"]?.advice == .skip)
    }

    @Test("a device written before goes offline with one write once Redis accepts writes")
    func goneMeanwhile() {
        let stage = Stage()
        let (alice, bob) = (stage.enter("alice"), stage.enter("bob"))
        stage.say(.watch(["alice"]), on: bob)
        stage.settle()
        stage.forgetWhatWasSaid()
        stage.redisRefusesWrites()
        stage.say(.goodbye, on: alice)
        stage.pass(.seconds(20))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.forgetWrites()
        stage.redisTakesWrites(leaseStands: false)
        stage.pass(.seconds(2))
        #expect(stage.heard(by: bob).statuses == ["alice offline"])
        #expect(stage.writes == ["list": 1, "write": 2], "bob's session, and alice's removal")
        #expect(stage.shard.sessionCount == 1)
    }

    @Test("a session that connects meanwhile is written once Redis accepts writes, whether the lease is kept or not")
    func comesMeanwhile() {
        for leaseStands in [true, false] {
            let stage = Stage()
            let bob = stage.enter("bob")
            stage.say(.watch(["alice"]), on: bob)
            stage.settle()
            stage.redisRefusesWrites()
            let alice = stage.enter("alice", issued: stage.redis.time, id: "h")
            stage.say(.state(.idle), id: "s", on: alice)
            stage.settle()
            #expect(stage.heard(by: alice).acks.isEmpty && !stage.held.contains(alice), "nobody is kept waiting")
            stage.pass(.seconds(3))
            stage.redisTakesWrites(leaseStands: leaseStands)
            stage.pass(.seconds(2))
            #expect(stage.heard(by: bob).statuses == ["alice offline", "alice away"])
            #expect(stage.heard(by: alice).acks == ["h", "s"])
        }
    }

    @Test("reads are answered meanwhile, and no worker counts as dead because leases cannot be renewed")
    func reads() {
        let stage = Stage()
        let bob = stage.enter("bob")
        let (w3, start) = (Incarnation(name: "w3.c"), stage.redis.time)
        stage.redis.records = [
            "alice": elsewhere("alice", start), "carol": elsewhere("carol", start),
            "dave": elsewhere("dave", start, of: w3),
        ]
        stage.others = [w2: start.advanced(by: .seconds(5)), w3: start.advanced(by: .seconds(1))]
        stage.say(.watch(["alice"]), on: bob)
        stage.pass(.seconds(3))
        stage.forgetWhatWasSaid()
        stage.redisRefusesWrites()
        stage.pass(.seconds(10))
        stage.say(.get(["alice", "bob", "dave"]), id: "g", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online", "bob online", "dave online"])
        stage.say(.watch(["carol", "dave"]), on: bob)
        stage.settle()
        #expect(
            Set(stage.heard(by: bob).statuses) == ["carol online", "dave online"], "although his worker died before")
        stage.say(.join("c", presence: false), id: "j", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).acks == ["j"])
        stage.redisTakesWrites(leaseStands: false)
        stage.pass(.milliseconds(4900))
        #expect(stage.heard(by: bob).statuses.isEmpty)
        stage.pass(.seconds(2))
        let gone: Set = ["alice offline", "carol offline", "dave offline"]
        #expect(Set(stage.heard(by: bob).statuses) == gone, "who did not come back")
    }

    @Test("a worker that started just before writes were refused does not count as dead")
    func beganJustBefore() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.pass(.seconds(1))
        stage.redis.records["alice"] = elsewhere("alice", stage.redis.time)
        stage.redisRefusesWrites()
        stage.others = [w2: stage.redis.time.advanced(by: .seconds(5))]
        stage.pass(.seconds(10))
        stage.say(.get(["alice"]), id: "g", on: bob)
        stage.settle()
        #expect(stage.heard(by: bob).statuses == ["alice online"])
    }

    @Test("a Redis that returns from an outage and refuses writes is read again")
    func backAndRefusing() {
        let stage = Stage()
        let bob = stage.enter("bob")
        stage.settle()
        stage.redisGoes()
        stage.say(.join("c", presence: false), id: "j", on: bob)
        stage.say(.watch(["alice"]), id: "w", on: bob)
        stage.heartbeatsFail()
        stage.confirmAndAnswerReads()
        #expect(Set(stage.heard(by: bob).acks) == ["j", "w"])
    }

    /// Ten people type, and go on and off while Redis refuses writes.
    private func typingWhileRefused() -> Stage {
        let stage = Stage()
        let keys = (0..<10).map { stage.enter(user($0)) }
        for key in keys { stage.say(.join("c", presence: false), on: key) }
        stage.settle()
        for key in keys { stage.say(.typing("c", true), on: key) }
        stage.settle()
        stage.redisRefusesWrites()
        for _ in 0..<50 {
            for key in keys {
                stage.say(.typing("c", false), on: key)
                stage.say(.typing("c", true), id: "t", on: key)
            }
            stage.settle()
            stage.forgetWhatWasSaid()
        }
        #expect(stage.shard.typing.stopCount == 10)
        stage.forgetWrites()
        return stage
    }

    @Test("while writes are refused a stop is kept once for each device, and sent when they are taken again")
    func typing() {
        let stage = typingWhileRefused()
        stage.redisTakesWrites(leaseStands: true)
        stage.settle()
        #expect(stage.writes == ["stop": 10] && stage.shard.typing.stopCount == 0)
    }

    @Test("a stop is not sent after the typing that it ends would have expired")
    func expiredStops() {
        let stage = typingWhileRefused()
        stage.pass(.seconds(4))
        stage.forgetWrites()
        stage.redisTakesWrites(leaseStands: true)
        stage.settle()
        #expect(stage.writes.isEmpty, "their typing has ended by itself: \(stage.writes)")
    }

    @Test("kept stops: one for each device in each conversation, dropped when they expire")
    func owedStops() {
        var stops = PendingStops()
        for step in 0..<100_000 {
            let time = redis(Int64(step))
            let stop = TypingSignal(
                user: user(step % 5000), device: "phone", conversation: "c",
                expiry: time.advanced(by: .milliseconds(100)))
            stops.sent(stop)
            #expect(stops.failed(stop, at: time).isEmpty)
            #expect(stops.count <= 2 * 100 + 64)
        }
        let left = stops.takeFailed(at: redis(100_000))
        #expect(left.count == 99 && left.first?.expiry == redis(100_001) && stops.count == 0)
    }

    @Test("disconnected sessions are bounded, and what Redis holds of the oldest is left to a sweep")
    func overflow() {
        var settings = ShardSettings()
        settings.bounds.lingeringSessions = 20
        let stage = Stage(settings)
        var keys: [Session] = []
        let most = 120
        for number in 0..<most {
            keys.append(stage.enter(user(number)))
            stage.settle()
            // Their removals are refused, although heartbeats succeed.
            stage.say(.goodbye, on: keys[number])
            while !stage.asked.isEmpty { stage.refuse(stage.asked.removeFirst()) }
        }
        #expect(stage.shard.sessionCount == 20 && stage.shard.tally.lingeringDropped == 100)
        #expect(stage.shard.unwrittenCount == 20)
        stage.heartbeat()
        #expect(stage.assertionsAsked == [.sessionsDropped], "so that the lease passes under which they were written")
        stage.heartbeat()
        #expect(stage.assertionsAsked == [.sessionsDropped])
    }

    /// Regression: no worker remembered the device, and it stayed online while its worker lived.
    @Test("a session dropped while its first write is in flight is left to a sweep, and a removal is not")
    func droppedInFlight() {
        for leaves in [false, true] {
            var settings = ShardSettings.uncoalesced
            (settings.bounds.lingeringSessions, settings.bounds.lingeringPerOpen) = (1, 0)
            let stage = Stage(settings)
            let alice = stage.enter("alice")
            if leaves { stage.event { $0.end(alice, .sentAway, at: $1) } }
            stage.answer()
            let write = stage.asked.removeFirst()
            if !leaves { stage.drop(alice) }
            let bob = stage.enter("bob")
            stage.settle()
            stage.drop(bob)
            stage.settle()
            #expect(stage.shard.tally.lingeringDropped == 1)
            stage.answer(write)
            #expect(stage.redis.record(of: "alice").devices["phone"]?.state == (leaves ? nil : .active))
            stage.heartbeat()
            #expect(stage.assertionsAsked == (leaves ? [] : [.sessionsDropped]))
        }
    }

    /// The entry stayed until the worker's incarnation ended.
    @Test("a session dropped after another took its device over is unlisted, or its list goes with the incarnation")
    func droppedFromTheList() {
        for isRefused in [false, true] {
            var settings = ShardSettings.uncoalesced
            (settings.bounds.lingeringSessions, settings.bounds.lingeringPerOpen) = (1, 0)
            let stage = Stage(settings)
            let alice = stage.enter("alice")
            stage.settle()
            let name = alice.recorder!.name
            stage.say(.goodbye, on: alice)
            stage.refuse(stage.asked.removeFirst())
            stage.event { $0.noticed(.replaced(name), at: $1) }
            let bob = stage.enter("bob")
            stage.settle()
            stage.drop(bob)
            #expect(stage.shard.tally.lingeringDropped == 1)
            while isRefused, !stage.asked.isEmpty { stage.refuse(stage.asked.removeFirst()) }
            stage.settle()
            let list = stage.redis.sessions[stage.incarnation!] ?? []
            #expect(list.contains(name) == isRefused && list.count == (isRefused ? 2 : 1))
            stage.heartbeat()
            #expect(stage.assertionsAsked == (isRefused ? [.sessionsDropped] : []))
        }
    }

    @Test(
        "random sessions are all settled once Redis accepts writes for good", arguments: 1...40)
    func chance(seed: UInt64) {
        let stage = Stage()
        var random = SeededGenerator(seed: seed)
        var open: [Session] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1, 2: open.append(stage.enter(user(Int.random(in: 0..<6, using: &random))))
            case 3 where !open.isEmpty:
                stage.say(.goodbye, on: open.remove(at: Int.random(in: 0..<open.count, using: &random)))
            case 4 where !open.isEmpty: stage.drop(open.remove(at: Int.random(in: 0..<open.count, using: &random)))
            case 5 where !open.isEmpty:
                stage.say(
                    .state([.active, .idle, .background].randomElement(using: &random)!),
                    on: open.randomElement(using: &random)!)
            case 6: if !stage.refusesWrites { stage.redisRefusesWrites() }
            case 7: if stage.refusesWrites { stage.redisTakesWrites(leaseStands: Bool.random(using: &random)) }
            case 8: stage.pass(.milliseconds(Int.random(in: 1...3000, using: &random)))
            default:
                for _ in 0..<Int.random(in: 0...5, using: &random) where !stage.asked.isEmpty {
                    if Bool.random(using: &random) { stage.answer() } else { stage.fail(stage.asked.removeFirst()) }
                }
            }
            open.removeAll { stage.closed[$0] != nil }
        }
        if stage.refusesWrites { stage.redisTakesWrites(leaseStands: false) }
        stage.pass(.seconds(12))
        open.removeAll { stage.closed[$0] != nil }
        #expect(stage.shard.sessionCount == open.count, "seed \(seed)")
        for key in open { stage.say(.goodbye, on: key) }
        stage.pass(.seconds(2))
        #expect(stage.leftovers.isEmpty, "seed \(seed): \(stage.leftovers)")
        for number in 0..<6 {
            let devices = stage.redis.record(of: user(number)).devices
            #expect(devices.values.allSatisfy { $0.state == nil }, "seed \(seed): \(devices)")
        }
    }
}

extension Stage {
    /// Confirms all channels, and answers the reads.
    fileprivate func confirmAndAnswerReads() {
        while !unconfirmed.isEmpty { confirm() }
        while !asked.isEmpty { answer() }
    }
}
