// Leases: how an incarnation begins, is renewed, ends and is deleted.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

@Suite(.serialized) struct StoreLeaseTests {
    /// A member of the set that belongs to other software, or one whose hash was evicted.
    @Test func aLongLeaseWithoutABeatMovesNoLease() async throws {
        let store = try await StoreUnderTest()
        let first = try await store.beat(.begin, w1, lease: .seconds(5))
        let far = first.time.advanced(by: .seconds(60))
        try await store.command("ZADD", "{workers}", "\(far.milliseconds)", "\(w2)")
        let second = try await store.beat(.renew, w1, lease: .seconds(5))
        #expect(second.held)
        #expect(second.leases == [w1: second.time.advanced(by: .seconds(5)), w2: far])
    }

    @Test func aWorkerThatLeavesSaysSoToWhoAsksWhereItIs() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1)
        try await store.beat(.begin, w2)
        let asked = [w2, Incarnation(name: "w3.c"), w1]
        let staying = WorkerCard(edge: "ws://box/v1/connect", isDraining: false)
        #expect(try await store.call { $0.cards(of: asked, reply: $1) } == [staying, staying])

        try await store.beat(.renew, w1, isDraining: true)
        let leaving = WorkerCard(edge: "ws://box/v1/connect", isDraining: true)
        #expect(try await store.call { $0.cards(of: asked, reply: $1) } == [staying, leaving])
        #expect(try await store.call { $0.cards(of: [], reply: $1) } == [])
    }

    @Test func aLeaseThatRedisLostIsNotRenewed() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1)
        try await store.command("FLUSHALL")
        let refused = try await store.beat(.renew, w1)
        #expect(!refused.held)
        #expect(refused.leases.isEmpty)
        #expect(try await store.command("DBSIZE").integer == 0)
    }

    @Test func anIncarnationBeginsOnce() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1)
        #expect(try await store.beat(.begin, w1).held == false)
        try await store.command("ZREM", "{workers}", w1.name)
        #expect(try await store.beat(.begin, w1).held == false, "its hash says that it was")
    }
}

extension StoreUnderTest {
    @discardableResult
    func beat(
        _ mode: Heartbeat.Mode, _ incarnation: Incarnation, lease: Duration = .seconds(5), isDraining: Bool = false
    ) async throws -> LeaseSnapshot {
        var beat = Heartbeat(
            mode: mode, incarnation: incarnation, lease: lease, host: "box", pid: 77, edge: "ws://box/v1/connect",
            startedAt: Timestamp(milliseconds: 123), sessions: 9, version: "0.1.0")
        beat.isDraining = isDraining
        return try await call { [beat] in $0.heartbeat(beat, reply: $1) }
    }

    func standing(of incarnation: Incarnation) async throws -> WorkerStanding {
        try await call { $0.standing(of: incarnation, reply: $1) }
    }

    func forget(_ incarnation: Incarnation) async throws -> Bool {
        try await call { $0.forget(incarnation, reply: $1) }
    }
}
