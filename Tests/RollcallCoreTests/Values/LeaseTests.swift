import RollcallCore
import RollcallModel
import TestSupport
import Testing

@Suite struct LeaseTests {
    private func snapshot(_ held: Bool, _ time: Int64, _ leases: [Incarnation: Timestamp] = [:]) -> LeaseSnapshot {
        LeaseSnapshot(held: held, time: redis(time), leases: leases)
    }

    @Test("a lease that passes is dead once, and one never listed is dead with the second heartbeat")
    func leases() {
        var leases = Leases()
        #expect(leases.read(snapshot(true, 0, [w2: redis(5)])).isEmpty)
        leases.noticed([w1])
        #expect(!leases.isDead(w1))
        #expect(leases.read(snapshot(true, 6, [w2: redis(5)])) == [w1, w2])
        #expect(leases.read(snapshot(true, 7, [w2: redis(5)])).isEmpty)
        #expect(leases.read(snapshot(true, 8)).isEmpty)
        #expect(leases.isDead(w2))
    }

    @Test("a lost lease is begun again under another name, and a refused beginning waits for its beat")
    func keeper() {
        var random = SeededGenerator(seed: 1)
        var keeper = LeaseKeeper(worker: "w1", lease: .seconds(5), heartbeat: .seconds(1), using: &random)
        guard let begin = keeper.heartbeatDue(at: at(.zero)) else { return #expect(Bool(false), "no beat") }
        #expect(keeper.heartbeatDue(at: at(.zero)) == nil)
        #expect(keeper.heartbeatAnswered(begin, snapshot(true, 1000), at: at(.zero), using: &random).count == 1)
        #expect(keeper.until == redis(5500))
        let first = keeper.incarnation
        guard let renew = keeper.heartbeatDue(at: at(.seconds(1))) else { return #expect(Bool(false), "no beat") }
        let lost = keeper.heartbeatAnswered(renew, snapshot(false, 9000), at: at(.seconds(1)), using: &random)
        guard case .beat(let again)? = lost.first else { return #expect(Bool(false), "not begun again") }
        #expect(keeper.incarnation == nil)
        #expect(keeper.heartbeatAnswered(again, snapshot(false, 9000), at: at(.seconds(1)), using: &random).isEmpty)
        guard let third = keeper.heartbeatDue(at: at(.seconds(2))) else { return #expect(Bool(false), "no beat") }
        // An answer to an earlier heartbeat is not this one's.
        #expect(keeper.heartbeatAnswered(again, snapshot(true, 9500), at: at(.seconds(2)), using: &random).isEmpty)
        #expect(keeper.heartbeatAnswered(third, snapshot(true, 9500), at: at(.seconds(2)), using: &random).count == 1)
        #expect(keeper.incarnation != first)
        #expect(!keeper.maySweep(at: at(.seconds(6))))
    }

    @Test("a dead worker is swept batch by batch, then forgotten, by one sweep at a time")
    func sweeper() {
        var sweeper = Sweeper()
        #expect(sweeper.died([w2]) == [.claim(w2)])
        #expect(sweeper.died([w2]).isEmpty)
        #expect(sweeper.claimed(w2, sessions: [session("alice")]) == [.sweep([session("alice")], of: w2)])
        #expect(sweeper.swept(w2) == [.claim(w2)])
        #expect(sweeper.claimed(w2, sessions: []) == [.forget(w2)])
        sweeper.ended(w2)
        #expect(sweeper.died([w2]) == [.claim(w2)])
        #expect(sweeper.claimed(w2, sessions: nil).isEmpty)
        #expect(sweeper.died([w2]) == [.claim(w2)])
    }
}
