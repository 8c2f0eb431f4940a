// When a worker should receive new devices.

import RollcallProtocol
import Testing

@testable import RollcallCore
@testable import RollcallServer

@Suite struct ReadinessTests {
    private let start = ContinuousClock.now
    private var readiness = Readiness(patience: .seconds(30))

    @Test("a worker is ready from its first lease on")
    func beginning() {
        var readiness = readiness
        #expect(!readiness.isReady(at: start) && !readiness.holdsLease)
        readiness.begins("w1.a", at: start)
        #expect(readiness.isReady(at: start) && readiness.holdsLease)
    }

    @Test("a worker stays ready for a while without Redis, and that time starts again after each outage")
    func outage() {
        var readiness = readiness
        readiness.begins("w1.a", at: start)
        readiness.renews(at: start + .seconds(10))
        readiness.loses(at: start)
        #expect(readiness.isReady(at: start + .seconds(40)) && !readiness.holdsLease)
        #expect(!readiness.isReady(at: start + .seconds(41)))
        readiness.begins("w1.b", at: start + .seconds(50))
        #expect(readiness.isReady(at: start + .seconds(50)) && readiness.incarnation?.name == "w1.b")
    }

    @Test("a Redis that refuses writes is tolerated as long as one that is away")
    func refusedWrites() {
        var readiness = readiness
        readiness.begins("w1.a", at: start)
        readiness.fails(at: start)
        #expect(readiness.isReady(at: start + .seconds(30)) && !readiness.holdsLease)
        #expect(!readiness.isReady(at: start + .seconds(31)))
        readiness.renews(at: start + .seconds(32))
        #expect(readiness.isReady(at: start + .seconds(32)) && readiness.holdsLease)
    }

    @Test("a worker that is stopping is not ready any more, even with a new lease")
    func leaving() {
        var readiness = readiness
        readiness.begins("w1.a", at: start)
        readiness.left()
        #expect(!readiness.isReady(at: start) && readiness.holdsLease)
        readiness.loses(at: start)
        readiness.begins("w1.b", at: start)
        readiness.renews(at: start)
        #expect(!readiness.isReady(at: start) && readiness.holdsLease)
    }
}

extension Readiness {
    private static let snapshot = LeaseSnapshot(held: true, time: Timestamp(milliseconds: 0), leases: [:])
    private static let moment = Instant(nanoseconds: 0)

    private var state: RedisState { redis ?? RedisState(worker: "w1", lease: .seconds(5), heartbeat: .seconds(1)) }

    fileprivate mutating func begins(_ name: ByteString, at now: ContinuousClock.Instant) {
        var state = state
        state.began(
            Incarnation(name: name), isFirst: true, Self.snapshot, until: Self.snapshot.time, clock: .unknown,
            at: Self.moment)
        told(.began(state, Self.snapshot, lastBeat: nil), at: now)
    }

    fileprivate mutating func renews(at now: ContinuousClock.Instant) {
        var state = state
        state.renewed(
            incarnation!, Self.snapshot, until: Self.snapshot.time, clock: .unknown, afterGap: false, at: Self.moment)
        told(.renewed(state, Self.snapshot), at: now)
    }

    fileprivate mutating func fails(at now: ContinuousClock.Instant) {
        var state = state
        state.heartbeatsFail(at: Self.moment)
        told(.heartbeatsFail(state), at: now)
    }

    fileprivate mutating func loses(at now: ContinuousClock.Instant) {
        var state = state
        state.lost()
        told(.lost(state), at: now)
    }
}
