import RedisTwin
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

/// A device leaves one worker and connects to another. Each test runs many times, with messages in flight arriving in a
/// different order each time.
@Suite struct GraceStories {
    @Test("a user's disconnected devices are bounded: the oldest is removed at once, and the user stays online")
    func manyDevicesInGrace() {
        let stage = Stage()
        var most = 0
        for number in 0..<200 {
            let key = stage.enter("alice", DeviceID(stringLiteral: "d\(number)"))
            stage.settle()
            stage.drop(key)
            stage.settle()
            let record = stage.redis.record(of: "alice")
            most = max(most, record.devices.values.count { $0.state != nil })
            #expect(record.presence(past: [:]).status == .online)
        }
        #expect(most == 20)
        stage.pass(.seconds(6))
        #expect(stage.redis.record(of: "alice").presence(past: [:]).status == .offline)
        #expect(stage.leftovers.isEmpty)
    }

    @Test(
        "a new device takes the place of the one whose connection was lost first, when it is admitted; connected ones stay"
    )
    func room() {
        let stage = Stage()
        let devices = (0..<20).map { stage.enter("alice", DeviceID(stringLiteral: "d\($0)")) }
        stage.settle()
        func present() -> Set<String> {
            Set(stage.redis.record(of: "alice").devices.filter { $0.value.state != nil }.map { $0.key.text })
        }
        for lost in [7, 3, 5] {
            stage.drop(devices[lost])
            stage.pass(.milliseconds(100))
        }
        #expect(present().count == 20, "all keep their grace as long as nobody needs their room")
        _ = stage.enter("alice", "d3")
        stage.settle()
        #expect(present().count == 20, "a device that is back takes its own place")
        for (new, gone) in [("e1", "d7"), ("e2", "d5")] {
            _ = stage.enter("alice", DeviceID(stringLiteral: new))
            stage.settle()
            #expect(present().contains(new) && !present().contains(gone) && present().count == 20)
        }
        _ = stage.enter("alice", "e3")
        stage.settle()
        #expect(present().count == 21, "the seats of a worker refuse that, not a shard")
    }

    /// Alice at the first worker, and Bob, who watches her, at the third.
    private func aliceAndBob(seed: UInt64) -> (Workers, alice: Workers.Client, bob: Workers.Client) {
        let workers = Workers(3, seed: seed)
        let (alice, bob) = (workers.enter("alice", on: 0), workers.enter("bob", on: 2))
        workers.say(.watch(["alice"]), on: bob)
        workers.settle()
        workers.forgetWhatWasSaid()
        return (workers, alice, bob)
    }

    /// Regression: the user was offline until the new session was written.
    @Test("a return at the last moment of the grace period is not visible, at any worker", arguments: [0, 1])
    func returnsInTime(worker: Int) {
        for seed in 0..<200 as Range<UInt64> {
            let (workers, alice, bob) = aliceAndBob(seed: seed)
            workers.drop(alice)
            workers.pass(.milliseconds(4999))
            let back = workers.enter("alice", on: worker)
            workers.pass(.milliseconds(3), arriving: false)
            workers.pass(.seconds(10))
            #expect(bob.heard().statuses.isEmpty, "seed \(seed)")
            #expect(workers.devices(of: "alice")["phone"]?.incarnation == workers.incarnation(of: back))
            #expect(workers.closed.isEmpty && workers.sessions == 2 && workers.listed == 2, "seed \(seed)")
        }
    }

    @Test("a return after the grace period is visible, once as offline and once as online", arguments: [0, 1])
    func returnsLate(worker: Int) {
        for seed in 0..<50 as Range<UInt64> {
            let (workers, alice, bob) = aliceAndBob(seed: seed)
            workers.drop(alice)
            workers.pass(.seconds(6))
            #expect(workers.devices(of: "alice").isEmpty)
            _ = workers.enter("alice", on: worker)
            workers.pass(.seconds(10))
            #expect(bob.heard().statuses == ["alice offline", "alice online"], "seed \(seed)")
            #expect(workers.closed.isEmpty && workers.sessions == 2 && workers.listed == 2, "seed \(seed)")
        }
    }

    @Test("if a device connects twice at once, to two workers, one session stays and observers see no change")
    func comesTwice() {
        for seed in 0..<200 as Range<UInt64> {
            let (workers, alice, bob) = aliceAndBob(seed: seed)
            workers.drop(alice)
            let both = [workers.enter("alice", on: 0), workers.enter("alice", on: 1)]
            workers.pass(.seconds(10))
            let stays = both.filter { $0.closed == nil }
            #expect(stays.count == 1 && workers.closed.allSatisfy { $0 == .replaced }, "seed \(seed)")
            let holder = workers.devices(of: "alice")["phone"]?.incarnation
            #expect(stays.map(workers.incarnation(of:)) == [holder], "seed \(seed)")
            #expect(bob.heard().statuses.isEmpty, "seed \(seed)")
            #expect(workers.sessions == 2 && workers.listed == 2, "seed \(seed)")
        }
    }

    @Test("if two devices alternate a thousand times, one connecting as the other is lost, observers see no change")
    func crossAndAreLost() {
        var random = SeededGenerator(seed: printedSeed())
        var (workers, there, bob) = aliceAndBob(seed: random.next())
        for round in 1...1000 {
            let comes = workers.enter("alice", round.isMultiple(of: 2) ? "phone" : "laptop", on: round % 2)
            for _ in 0..<Int.random(in: 0..<4, using: &random) { workers.step() }
            workers.drop(there)
            there = comes
            workers.pass(.milliseconds(.random(in: 0...3000, using: &random)))
        }
        workers.pass(.seconds(10))
        #expect(bob.heard().statuses.isEmpty)
        #expect(workers.devices(of: "alice").count == 1 && workers.sessions == 2 && workers.listed == 2)
    }

    @Test("if two devices alternate a thousand times, one connecting as the other says goodbye, the last one counts")
    func crossAndSayGoodbye() {
        var random = SeededGenerator(seed: printedSeed())
        var (workers, there, bob) = aliceAndBob(seed: random.next())
        for round in 1...1000 {
            let comes = workers.enter("alice", round.isMultiple(of: 2) ? "phone" : "laptop", on: round % 2)
            let isWritten = Bool.random(using: &random)
            if isWritten { workers.settle() }
            _ = bob.heard()
            workers.say(.goodbye, on: there)
            there = comes
            workers.pass(.milliseconds(.random(in: 0...3000, using: &random)))
            let statuses = bob.heard().statuses
            #expect(isWritten ? statuses.isEmpty : statuses.last ?? "alice online" == "alice online", "round \(round)")
            #expect(workers.devices(of: "alice").count == 1 && workers.listed == 2)
        }
    }

    @Test("a device that moved and said goodbye stays offline, whatever its former worker still writes")
    func goodbyeElsewhere() {
        for seed in 0..<50 as Range<UInt64> {
            let (workers, alice, bob) = aliceAndBob(seed: seed)
            workers.held = 0
            workers.drop(alice)
            let moved = workers.enter("alice", on: 1)
            workers.pass(.seconds(1))
            workers.say(.goodbye, on: moved)
            workers.pass(.seconds(1))
            workers.held = nil
            workers.pass(.seconds(10))
            #expect(bob.heard().statuses == ["alice offline"], "seed \(seed)")
            #expect(workers.devices(of: "alice").isEmpty && workers.sessions == 1 && workers.listed == 1)
        }
    }
}
