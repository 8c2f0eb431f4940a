import RollcallProtocol
import Testing

@testable import RollcallCore

/// A worker with a lease of five seconds and a heartbeat of one. Redis's clock is one second ahead of the worker's.
@Suite struct RedisStateTests {
    private var state: RedisState

    init() {
        state = RedisState(worker: "w1", lease: .seconds(5), heartbeat: .seconds(1), clock: Self.clock(.zero))
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
        state.began(
            incarnation, isFirst: isFirst, snapshot(moment, leases), until: Self.time(moment + .seconds(4)),
            clock: Self.clock(moment), at: at(moment))
    }

    /// - Returns: whether a worker died since the last heartbeat.
    @discardableResult
    private mutating func renew(
        at moment: Duration, leases: [Incarnation: Timestamp] = [:], afterGap: Bool = false
    ) -> Bool {
        let former = state.judgement
        state.renewed(
            Incarnation(name: state.workerName), snapshot(moment, leases), until: Self.time(moment + .seconds(4)),
            clock: Self.clock(moment), afterGap: afterGap, at: at(moment))
        return state.judgement.hasLostWorker(since: former)
    }

    private func rest(_ moment: Duration) -> Duration? { state.judgement.rest(at: at(moment)) }

    @Test("without a lease, nothing is read or written, and the worker keeps its name")
    mutating func away() {
        #expect(!state.takesWrites && !state.answersReads && state.incarnation == nil && state.workerName == "w1")
        #expect(rest(.zero) == nil)
        begin(w2, at: .zero)
        #expect(state.takesWrites && state.answersReads && state.incarnation == w2)
        state.lost()
        #expect(!state.takesWrites && !state.answersReads && state.workerName == w2.name)
    }

    @Test("a worker that has just started knows after one lease that there was no outage")
    mutating func starting() {
        begin(w1, at: .zero)
        #expect(rest(.seconds(2)) == .seconds(3) && !state.judgement.isSettling)
        #expect(rest(.seconds(5)) == nil)
    }

    @Test("an outage settles with the first heartbeat one lease after its end, which comes just then")
    mutating func settles() {
        begin(w1, at: .zero)
        state.lost()
        #expect(begin(w2, isFirst: false, at: .seconds(10)) == redis(1000), "the last heartbeat before it")
        #expect(rest(.seconds(11)) == .seconds(4))
        renew(at: .milliseconds(14_800))
        #expect(state.judgement.isSettling && state.pause(at: at(.milliseconds(14_800))) == .milliseconds(200))
        #expect(rest(.seconds(16)) == .zero, "without a heartbeat, it does not")
        renew(at: .seconds(15))
        #expect(!state.judgement.isSettling && rest(.seconds(15)) == nil && state.pause(at: at(.zero)) == .seconds(1))
    }

    /// Regression: each outage began the time again, so that outages every few seconds never settled.
    @Test("of outages that follow each other, the time between them counts, except the first two seconds each time")
    mutating func again() {
        begin(w1, at: .zero)
        begin(w2, isFirst: false, at: .seconds(10))
        renew(at: .seconds(13))
        renew(at: .seconds(16), afterGap: true)
        #expect(rest(.seconds(16)) == .seconds(4), "one second counts, and a stretch needs two to begin with")
        renew(at: .seconds(17))
        renew(at: .seconds(20), afterGap: true)
        #expect(rest(.seconds(20)) == .seconds(4), "of one second, none counts")
        renew(at: .milliseconds(22_500))
        renew(at: .seconds(25), afterGap: true)
        #expect(rest(.seconds(25)) == .milliseconds(3500) && state.judgement.settlingSince == at(.seconds(10)))
        renew(at: .milliseconds(28_500))
        #expect(!state.judgement.isSettling)
        renew(at: .seconds(32), afterGap: true)
        #expect(rest(.seconds(32)) == .seconds(5), "what was before the last one had settled")
    }

    @Test("while heartbeats fail, nothing is written and everything is read; others may have lost their leases later")
    mutating func refused() {
        begin(w1, at: .zero)
        renew(at: .seconds(5))
        state.heartbeatsFail(isOutage: false, at: at(.seconds(7)))
        #expect(!state.takesWrites && state.answersReads && state.incarnation == nil && rest(.seconds(7)) == nil)
        renew(at: .seconds(8))
        #expect(state.incarnation == w1 && rest(.seconds(8)) == nil)
        state.heartbeatsFail(isOutage: false, at: at(.seconds(10)))
        state.heartbeatsFail(isOutage: true, at: at(.seconds(12)))
        #expect(rest(.seconds(12)) == .seconds(5))
        renew(at: .seconds(13), afterGap: true)
        #expect(state.incarnation == w1 && rest(.seconds(13)) == .seconds(5))
        #expect(state.judgement.settlingSince == at(.seconds(13)), "until then, it was going on")
        state.lost()
        state.heartbeatsFail(isOutage: true, at: at(.seconds(14)))
        #expect(state.answersReads)
    }

    @Test("a worker that starts while Redis refuses writes judges nobody for a lease after its first one")
    mutating func refusedAtFirst() {
        state.heartbeatsFail(isOutage: true, at: at(.zero))
        begin(w1, at: .seconds(4))
        #expect(rest(.seconds(4)) == .seconds(5) && state.judgement.isSettling)
    }

    @Test("a dead worker is reported once, and not during an outage, which may explain it")
    mutating func lostWorker() {
        begin(w1, at: .zero, leases: [w1: redis(6000), w2: redis(2000)])
        #expect(state.known(at: at(.zero)) == KnownWorkers(own: w1, living: [w1, w2]))
        let isLost = renew(at: .seconds(2), leases: [w1: redis(8000), w2: redis(2000)])
        #expect(isLost && state.judgement.mayCountDead(isMasked: false))
        let isLostAgain = renew(at: .seconds(3), leases: [w1: redis(9000)])
        #expect(!isLostAgain && !state.judgement.mayCountDead(isMasked: false), "w2 was swept")
        renew(at: .seconds(4), leases: [w1: redis(9000), w2: redis(9000)])
        let isSwept = renew(at: .seconds(5), leases: [w1: redis(9000)])
        #expect(isSwept, "before its lease was seen to pass")
        renew(at: .seconds(6), leases: [w1: redis(9000), w2: redis(9000)])
        let isLostInOutage = renew(at: .seconds(7), leases: [w1: redis(9000)], afterGap: true)
        #expect(!isLostInOutage && !state.judgement.mayCountDead(isMasked: true))
    }

    @Test("leases expire while heartbeats succeed; once they fail, the last heartbeat counts")
    mutating func known() {
        begin(w1, at: .zero, leases: [w1: redis(6000), w2: redis(2000)])
        #expect(state.known(at: at(.seconds(1))).living == [w1, w2])
        #expect(state.known(at: at(.seconds(2))).living == [w1])
        #expect(state.known(at: at(.seconds(3))).living == [w1, w2])
    }
}
