import RollcallProtocol
import Testing

@testable import RollcallCore

/// A worker with a lease of five seconds and a heartbeat of one. Redis's clock is one second ahead of the worker's.
@Suite struct RedisStateTests {
    private var state: RedisState

    init() {
        state = RedisState(worker: "w1", clock: Self.clock(.zero), ShardSettings())
    }

    private static func clock(_ moment: Duration, ahead: Int64 = 1000) -> RedisClock {
        RedisClock(time: time(moment, ahead: ahead), sent: at(moment))
    }

    private static func time(_ moment: Duration, ahead: Int64 = 1000) -> Timestamp {
        redis(moment.milliseconds + ahead)
    }

    private func snapshot(
        _ moment: Duration, ahead: Int64 = 1000, _ leases: [Incarnation: Timestamp] = [:]
    ) -> LeaseSnapshot {
        LeaseSnapshot(held: true, time: Self.time(moment, ahead: ahead), leases: leases)
    }

    @discardableResult
    private mutating func begin(
        _ incarnation: Incarnation, isFirst: Bool = true, at moment: Duration, leases: [Incarnation: Timestamp] = [:]
    ) -> Timestamp? {
        state.incarnationBegan(
            incarnation, isFirst: isFirst, snapshot(moment, leases), until: Self.time(moment + .seconds(4)),
            clock: Self.clock(moment), at: at(moment))
    }

    @discardableResult
    private mutating func renew(
        at moment: Duration, ahead: Int64 = 1000, leases: [Incarnation: Timestamp] = [:], afterGap: Bool = false
    ) -> RedisState.Renewal {
        state.leaseRenewed(
            of: Incarnation(name: state.workerName), snapshot(moment, ahead: ahead, leases),
            until: Self.time(moment + .seconds(4)),
            clock: Self.clock(moment, ahead: ahead), afterGap: afterGap, at: at(moment))
    }

    @Test("without a lease, nothing is read or written, and the worker keeps its name")
    mutating func away() {
        #expect(!state.takesWrites && !state.answersReads && state.incarnation == nil && state.workerName == "w1")
        #expect(state.recovery.rest(at: at(.zero)) == nil)
        begin(w2, at: .zero)
        #expect(state.takesWrites && state.answersReads && state.incarnation == w2)
        state.lost()
        #expect(!state.takesWrites && !state.answersReads && state.workerName == w2.name)
    }

    @Test("a worker that has just started knows after one lease that there was no outage")
    mutating func starting() {
        begin(w1, at: .zero)
        #expect(state.recovery.rest(at: at(.seconds(2))) == .seconds(3) && state.outage == nil)
        #expect(state.recovery.rest(at: at(.seconds(5))) == nil)
        #expect(state.settlingDue(at: at(.seconds(5))) == .nothing)
    }

    @Test("an outage settles one lease after its end, but not while heartbeats fail")
    mutating func settles() {
        begin(w1, at: .zero)
        state.lost()
        let lastBeat = begin(w2, isFirst: false, at: .seconds(10))
        #expect(lastBeat == redis(1000))
        #expect(state.outage?.lastBeat == redis(1000) && state.recovery.rest(at: at(.seconds(11))) == .seconds(4))
        #expect(state.settlingDue(at: at(.seconds(14))) == .waiting(until: at(.seconds(15))))
        #expect(state.settlingDue(at: at(.seconds(15))) == .waiting(until: at(.seconds(16))))
        renew(at: .seconds(16))
        #expect(state.settlingDue(at: at(.seconds(16))) == .settled)
        #expect(state.outage == nil && state.recovery.rest(at: at(.seconds(16))) == nil)
    }

    @Test("of two outages in a row, the last heartbeat before the first counts")
    mutating func twice() {
        begin(w1, at: .zero)
        begin(w2, isFirst: false, at: .seconds(10))
        renew(at: .seconds(11), afterGap: true)
        #expect(
            state.outage == Outage(settles: at(.seconds(16)), lastBeat: redis(1000), startingUntil: at(.seconds(5))))
    }

    @Test("while heartbeats fail, nothing is written, everything is read, and an outage goes on")
    mutating func refused() {
        begin(w1, at: .zero)
        let first = state.heartbeatsFail(at: at(.seconds(2)))
        #expect(first.isNew && !first.wasAway)
        #expect(!state.takesWrites && state.answersReads && state.incarnation == nil)
        let second = state.heartbeatsFail(at: at(.seconds(3)))
        #expect(!second.isNew && state.outage?.settles == at(.seconds(7)))
        let renewal = renew(at: .seconds(4))
        #expect(renewal.resumesWrites && renewal.endsOutage && state.incarnation == w1)
        #expect(state.outage?.settles == at(.seconds(9)))
        state.lost()
        let third = state.heartbeatsFail(at: at(.seconds(5)))
        #expect(third.isNew && third.wasAway && state.answersReads)
    }

    /// A worker that starts while Redis refuses writes.
    @Test("an outage before the first lease settles first, then the worker counts as just started")
    mutating func refusedAtFirst() {
        _ = state.heartbeatsFail(at: at(.zero))
        begin(w1, at: .seconds(4))
        #expect(state.recovery.rest(at: at(.seconds(4))) == .seconds(1))
        #expect(state.settlingDue(at: at(.seconds(5))) == .settled)
        #expect(state.recovery.rest(at: at(.seconds(5))) == .seconds(4))
        #expect(state.recovery.rest(at: at(.seconds(9))) == nil)
    }

    @Test("a dead worker is reported once, and not during an outage, which may explain it")
    mutating func lostWorker() {
        begin(w1, at: .zero, leases: [w1: redis(6000), w2: redis(2000)])
        #expect(state.known(at: at(.zero)) == KnownWorkers(own: w1, living: [w1, w2]))
        let first = renew(at: .seconds(2), leases: [w1: redis(8000), w2: redis(2000)])
        #expect(first.hasLostWorker && state.leavesUnswept)
        #expect(!renew(at: .seconds(3), leases: [w1: redis(9000)]).hasLostWorker)
        renew(at: .seconds(4), leases: [w1: redis(9000), w2: redis(9000)])
        #expect(!renew(at: .seconds(5), leases: [w1: redis(9000)], afterGap: true).hasLostWorker)
    }

    @Test("leases expire while heartbeats succeed; once they fail, the last heartbeat counts")
    mutating func known() {
        begin(w1, at: .zero, leases: [w1: redis(6000), w2: redis(2000)])
        #expect(state.known(at: at(.seconds(2))).living == [w1])
        #expect(state.known(at: at(.seconds(3))).living == [w1, w2])
    }

    @Test("weaker states wait one second under a further incarnation, and removals a quarter more")
    mutating func weakerStates() {
        begin(w1, at: .zero)
        #expect(state.weakerStates.start == nil && !state.weakerStates.defers(.idle, at: at(.zero)))
        begin(w2, isFirst: false, at: .seconds(10))
        #expect(state.weakerStates.start == at(.seconds(11)))
        #expect(state.weakerStates.removals == at(.milliseconds(11_250)))
        #expect(state.weakerStates.defers(.idle, at: at(.milliseconds(10_999))))
        #expect(!state.weakerStates.defers(.idle, at: at(.seconds(11))))
        #expect(state.weakerStates.defers(nil, at: at(.milliseconds(11_249))))
        #expect(!state.weakerStates.defers(nil, at: at(.milliseconds(11_250))))
    }

    @Test("weaker states are written before the lease expires under which everything was written")
    mutating func beforeExpiry() {
        begin(w1, at: .zero)
        // Redis's clock is at 11 s.
        begin(w2, isFirst: false, at: .seconds(10), leases: [w1: redis(11_650)])
        #expect(state.weakerStates.start == at(.milliseconds(10_400)))
    }

    @Test("if nothing was lost since weaker states waited, they do not wait again")
    mutating func waitsOnce() {
        let w3 = Incarnation(name: "w3.c")
        begin(w1, at: .zero)
        begin(w2, isFirst: false, at: .seconds(10))
        begin(w3, isFirst: false, at: .milliseconds(10_500), leases: [w2: redis(16_000)])
        #expect(state.weakerStates.start == at(.seconds(11)))
        state.weakerStatesWritten()
        begin(w1, isFirst: false, at: .seconds(20), leases: [w3: redis(30_000)])
        #expect(state.weakerStates.start == at(.seconds(21)), "the lease of what was written is far from its end")
    }
}
