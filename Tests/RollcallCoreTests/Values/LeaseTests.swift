import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

@Suite struct LeaseTests {
    private func snapshot(_ held: Bool, _ time: Int64, _ leases: [Incarnation: Timestamp] = [:]) -> LeaseSnapshot {
        LeaseSnapshot(held: held, time: redis(time), leases: leases)
    }

    @Test("a lost lease is claimed again under another name, and a refused claim waits for the next heartbeat")
    func keeper() throws {
        var coordinator = coordinator()
        let first = try begin(&coordinator)
        let renew = try beat(coordinator.beatDue(at: at(.seconds(1))))
        #expect(coordinator.beatDue(at: at(.seconds(1))).isEmpty, "one heartbeat at a time")
        let lost = replied(&coordinator, renew, snapshot(false, 9000), at: .seconds(1))
        #expect(isLost(lost.first) && coordinator.incarnation == nil)
        let again = try beat(lost)
        #expect(replied(&coordinator, again, snapshot(false, 9000), at: .seconds(1)).isEmpty)
        let third = try beat(coordinator.beatDue(at: at(.seconds(2))))
        // The reply to an earlier heartbeat does not count for this one.
        #expect(replied(&coordinator, again, snapshot(true, 9500), at: .seconds(2)).isEmpty)
        #expect(!replied(&coordinator, third, snapshot(true, 9500), at: .seconds(2)).isEmpty)
        #expect(coordinator.incarnation != nil && coordinator.incarnation != first)
    }

    @Test("replies to a lost incarnation do not count for the next one")
    func staleAnswer() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        let renew = try beat(coordinator.beatDue(at: at(.seconds(1))))
        #expect(isLost(coordinator.redisChanged().first))
        #expect(replied(&coordinator, renew, snapshot(true, 2000), at: .seconds(1)).isEmpty)
        #expect(coordinator.incarnation == nil)
    }

    @Test("a worker sweeps after one lease of heartbeats without a gap in which others may lose their lease")
    func maySweep() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        let dead: [Incarnation: Timestamp] = [w2: redis(0)]
        for second in 1...4 { #expect(try claims(&coordinator, dead, at: .seconds(second)).isEmpty) }
        #expect(try claims(&coordinator, dead, at: .seconds(5)).count == 1)
        _ = coordinator.sweepReplied(w2, isDone: false)
        #expect(try claims(&coordinator, dead, at: .milliseconds(8500)).count == 1, "3.5 s: lease - heartbeat - 0.5 s")
        _ = coordinator.sweepReplied(w2, isDone: false)
        #expect(try claims(&coordinator, dead, at: .milliseconds(12_010)).isEmpty, "3.51 s")
        for second in 13...17 { #expect(try claims(&coordinator, dead, at: .seconds(second)).isEmpty) }
        #expect(try claims(&coordinator, dead, at: .milliseconds(17_010)).count == 1)
    }

    @Test("a slow heartbeat ends a gap when it is answered, not when it was sent")
    func gapUnderWay() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        let late = try beat(coordinator.beatDue(at: at(.seconds(1))))
        let dead: [Incarnation: Timestamp] = [w2: redis(0)]
        #expect(coordinator.beatDue(at: at(.seconds(2))).isEmpty)
        let next = try beat(replied(&coordinator, late, snapshot(true, 6000, dead), at: .seconds(5)))
        #expect(replied(&coordinator, next, snapshot(true, 6000, dead), at: .seconds(5)).count == 1)
        for second in 6...9 { #expect(try claims(&coordinator, dead, at: .seconds(second)).isEmpty) }
        #expect(try claims(&coordinator, dead, at: .seconds(10)).count == 1)
    }

    @Test("sessions listed under a lease that an emptied Redis lost are swept by the worker that listed them")
    func forgottenList() throws {
        var coordinator = coordinator()
        let first = try #require(try begin(&coordinator))
        let renew = try beat(coordinator.beatDue(at: at(.seconds(1))))
        let again = try beat(replied(&coordinator, renew, snapshot(false, 2000), at: .seconds(1)))
        _ = replied(&coordinator, again, snapshot(true, 2000), at: .seconds(1))
        let second = try #require(coordinator.incarnation)
        for moment in 2...5 { #expect(try claims(&coordinator, [:], at: .seconds(moment)).isEmpty) }
        #expect(try claims(&coordinator, [second: redis(20_000)], at: .seconds(6)) == [.claim(first, by: second)])
        #expect(coordinator.claimReplied(first, Result<_, StoreFailure>.success([])) == [.forget(first)])
        coordinator.deletionReplied(first)
        #expect(try claims(&coordinator, [second: redis(20_000)], at: .seconds(7)).isEmpty, "that is done")
    }

    @Test("a slow heartbeat does not set the clock ahead")
    func slowHeartbeat() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        let renew = try beat(coordinator.beatDue(at: at(.seconds(1))))
        // The request took 1.5 s to arrive.
        let actions = replied(&coordinator, renew, snapshot(true, 3500), at: .milliseconds(2500))
        guard case .tell(.renewed(let state, _))? = actions.first else {
            return #expect(Bool(false), "not renewed: \(actions)")
        }
        #expect(state.time(at: at(.milliseconds(2500))) == redis(3502), "3500, and what clocks may drift in 2.5 s")
    }

    @Test("shards are notified of a gap, even if only the reply was late")
    func gap() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        let renew = try beat(coordinator.beatDue(at: at(.seconds(1))))
        let actions = replied(&coordinator, renew, snapshot(true, 4000), at: .milliseconds(3501))
        guard case .tell(.renewed(let state, _))? = actions.first, state.judgement.isSettling else {
            return #expect(Bool(false), "no gap: \(actions)")
        }
        #expect(state.until == redis(4000 + 4500))
    }

    /// Regression: a Redis that took longer than a heartbeat for each answer never settled, since every renewal came after a
    /// gap of two heartbeats.
    @Test(
        "where each answer is late, the next heartbeat follows at once, and a worker sweeps as ever",
        arguments: [1200, 2250])
    func slowRedis(answer: Int64) throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        let dead: [Incarnation: Timestamp] = [w2: redis(0)]
        var (renew, sent) = (try beat(coordinator.beatDue(at: at(.seconds(1)))), Int64(1000))
        while true {
            let now = sent + answer
            #expect(coordinator.beatDue(at: at(.milliseconds(sent + 1000))).isEmpty, "one at a time")
            let actions = replied(&coordinator, renew, snapshot(true, 1000 + sent, dead), at: .milliseconds(now))
            #expect(coordinator.settling(at: at(.milliseconds(now))) == .zero)
            if actions.contains(where: { if case .claim = $0 { true } else { false } }) {
                return #expect(now >= 5000 && now < 5000 + 2 * answer)
            }
            (renew, sent) = (try beat(actions), now)
        }
    }

    @Test("beyond half a lease, less 0.5 s, nobody can tell a late answer from an outage, and the worker says so")
    func tooSlow() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        var (renew, sent) = (try beat(coordinator.beatDue(at: at(.seconds(1)))), Int64(1000))
        for _ in 0..<10 {
            let now = sent + 2300
            _ = coordinator.beatDue(at: at(.milliseconds(sent + 1000)))
            (renew, sent) = (
                try beat(replied(&coordinator, renew, snapshot(true, 1000 + sent), at: .milliseconds(now))), now
            )
        }
        #expect(coordinator.settling(at: at(.milliseconds(sent))) > .seconds(15))
    }

    @Test("a clock set forward is a gap in which others could not renew their leases, and no worker is swept")
    func setForward() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        for second in 1...6 { #expect(try claims(&coordinator, [:], at: .seconds(second)).isEmpty) }
        let renew = try beat(coordinator.beatDue(at: at(.seconds(7))))
        let passed: [Incarnation: Timestamp] = [w2: redis(12_000)]
        // By four seconds: this worker's lease is still valid.
        let actions = replied(&coordinator, renew, snapshot(true, 12_001, passed), at: .seconds(7))
        guard case .tell(.renewed(let state, _))? = actions.first, state.judgement.isSettling, actions.count == 1 else {
            return #expect(Bool(false), "no gap, or a sweep: \(actions)")
        }
        for second in 8...11 { #expect(try claims(&coordinator, passed, at: .seconds(second), ahead: 4000).isEmpty) }
        #expect(try claims(&coordinator, passed, at: .seconds(12), ahead: 4000).count == 1)
    }

    @Test("a clock set back is a gap: new records may have smaller versions")
    func setBack() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        for second in 1...3 { #expect(try claims(&coordinator, [:], at: .seconds(second)).isEmpty) }
        let renew = try beat(coordinator.beatDue(at: at(.seconds(4))))
        let actions = replied(&coordinator, renew, snapshot(true, 3000), at: .seconds(4))
        guard case .tell(.renewed(let state, _))? = actions.first, state.judgement.isSettling else {
            return #expect(Bool(false), "no gap: \(actions)")
        }
    }

    @Test("a dead worker is swept in batches, then deleted, by one sweep at a time")
    func sweeper() {
        var sweeper = Sweeper()
        #expect(sweeper.begin(passed: [w2]) == [.claim(w2)])
        #expect(sweeper.begin(passed: [w2]).isEmpty)
        #expect(
            sweeper.claimed(w2, items: [.session(session("alice"))]) == .sweep([.session(session("alice"))], of: w2))
        #expect(sweeper.swept(w2) == .claim(w2))
        #expect(sweeper.claimed(w2, items: []) == .forget(w2))
        sweeper.ended(w2)
        #expect(sweeper.begin(passed: [w2]) == [.claim(w2)])
        #expect(sweeper.claimed(w2, items: nil) == nil, "another sweeps it")
        #expect(sweeper.begin(passed: [w2]) == [.claim(w2)])
    }

    @Test("devices of dead workers that reads found are swept as well, in batches, but not twice")
    func met() {
        var sweeper = Sweeper()
        let many = (0..<150).map { HeldItem(.session(session("alice", "phone", "s\($0)")), of: w2) }
        sweeper.met(many)
        sweeper.met(many)
        guard case .sweep(let batch, w2)? = sweeper.begin(passed: []).first else {
            return #expect(Bool(false), "no sweep")
        }
        #expect(batch.count == Sweeper.batch)
        guard case .sweep(let rest, w2)? = sweeper.swept(w2) else { return #expect(Bool(false), "no rest") }
        #expect(Set(batch + rest) == Set(many.map(\.item)))
        #expect(sweeper.swept(w2) == nil)
        sweeper.met([many[0]])
        #expect(sweeper.begin(passed: [w2]) == [.claim(w2)])
        #expect(sweeper.claimed(w2, items: [many[0].item]) == .sweep([many[0].item], of: w2))
        _ = sweeper.claimed(w2, items: [])
        sweeper.ended(w2)
        #expect(sweeper.begin(passed: []).isEmpty, "its list named it")
    }

    @Test("shards are notified after two heartbeats in a row that failed, not after one")
    func heartbeatsFail() throws {
        var coordinator = coordinator()
        let first = try begin(&coordinator)
        #expect(try failed(&coordinator, at: .seconds(1)).isEmpty)
        _ = try claims(&coordinator, [:], at: .seconds(2))
        #expect(try failed(&coordinator, at: .seconds(3)).isEmpty)
        #expect(try isFailing(failed(&coordinator, at: .seconds(4))))
        #expect(try isFailing(failed(&coordinator, at: .seconds(5))))
        let renew = try beat(coordinator.beatDue(at: at(.seconds(6))))
        let actions = replied(&coordinator, renew, snapshot(true, 7000), at: .seconds(6))
        guard case .tell(.renewed(let state, _))? = actions.first, state.judgement.isSettling else {
            return #expect(Bool(false), "not renewed: \(actions)")
        }
        #expect(coordinator.incarnation == first, "the lease stood")
    }

    @Test("failures before a lost connection do not count, and claims that fail do")
    func failedClaims() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        #expect(try failed(&coordinator, at: .seconds(1)).isEmpty)
        #expect(isLost(coordinator.redisChanged().first))
        #expect(try failed(&coordinator, at: .seconds(2)).isEmpty)
        #expect(try isFailing(failed(&coordinator, at: .seconds(3))), "as after a failover")
    }

    /// Regression: changes in the meantime were written up to 250 ms later than two seconds after the end. While Redis
    /// refused everything, as when it loads its data, this was still so.
    @Test("while heartbeats fail, they are sent twice as often")
    func pauseWhileFailing() throws {
        var coordinator = coordinator()
        try begin(&coordinator)
        #expect(coordinator.pause(at: at(.zero)) == .seconds(1))
        _ = try failed(&coordinator, at: .seconds(1))
        #expect(coordinator.pause(at: at(.zero)) == .milliseconds(500))
        let renew = try beat(coordinator.beatDue(at: at(.milliseconds(1500))))
        _ = replied(&coordinator, renew, snapshot(true, 2500), at: .milliseconds(1500))
        #expect(coordinator.pause(at: at(.zero)) == .seconds(1))
    }

    // MARK: A worker called w1, with a lease of five seconds and a heartbeat of one

    private func coordinator() -> LeaseCoordinator {
        LeaseCoordinator(worker: "w1", lease: .seconds(5), heartbeat: .seconds(1), random: SeededGenerator(seed: 1))
    }

    private func failed(
        _ coordinator: inout LeaseCoordinator, at moment: Duration
    ) throws -> [LeaseCoordinator.Action] {
        let sent = try beat(coordinator.beatDue(at: at(moment)))
        return coordinator.heartbeatReplied(
            sent, .failure(Refused()) as Result<LeaseSnapshot, Refused>, at: at(moment))
    }

    private func isLost(_ action: LeaseCoordinator.Action?) -> Bool {
        if case .tell(.lost(let redis))? = action { !redis.takesWrites && !redis.answersReads } else { false }
    }

    private func isFailing(_ actions: [LeaseCoordinator.Action]) -> Bool {
        if case .tell(.heartbeatsFail(let redis))? = actions.first { redis.answersReads } else { false }
    }

    private struct Refused: Error {}

    private func replied(
        _ coordinator: inout LeaseCoordinator, _ beat: LeaseCoordinator.Beat, _ snapshot: LeaseSnapshot,
        at moment: Duration
    ) -> [LeaseCoordinator.Action] {
        coordinator.heartbeatReplied(beat, .success(snapshot) as Result<_, Refused>, at: at(moment))
    }

    private func beat(_ actions: [LeaseCoordinator.Action]) throws -> LeaseCoordinator.Beat {
        try #require(actions.compactMap { if case .beat(let beat) = $0 { beat } else { nil } }.first)
    }

    @discardableResult
    private func begin(_ coordinator: inout LeaseCoordinator) throws -> Incarnation? {
        let begin = try beat(coordinator.beatDue(at: at(.zero)))
        #expect(replied(&coordinator, begin, snapshot(true, 1000), at: .zero).count == 2)
        return coordinator.incarnation
    }

    private func claims(
        _ coordinator: inout LeaseCoordinator, _ leases: [Incarnation: Timestamp], at moment: Duration, ahead: Int64 = 0
    ) throws -> [LeaseCoordinator.Action] {
        let renew = try beat(coordinator.beatDue(at: at(moment)))
        let answer = snapshot(true, 1000 + ahead + moment.milliseconds, leases)
        return replied(&coordinator, renew, answer, at: moment).filter {
            if case .claim = $0 { true } else { false }
        }
    }
}
