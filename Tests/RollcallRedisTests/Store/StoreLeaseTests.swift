// Leases: how an incarnation begins, is renewed, ends and is deleted.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

@Suite(.serialized) struct StoreLeaseTests {
    @Test func aLeaseBeginsAndSaysWhoHoldsIt() async throws {
        let store = try await StoreUnderTest()
        let beat = try await store.beat(.begin, w1, lease: .seconds(5))
        #expect(beat.held)
        #expect(beat.leases == [w1: beat.time.advanced(by: .seconds(5))])
        #expect(
            try await store.hash("{workers}:w1.aaaa") == [
                "host": "box", "pid": "77", "edge": "ws://box/v1/connect", "started_at": "123", "sessions": "9",
                "version": "0.1.0", "format": "1", "beat": "\(beat.time.milliseconds)",
            ])
    }

    @Test func everyHeartbeatReadsAllLeases() async throws {
        let store = try await StoreUnderTest()
        let first = try await store.beat(.begin, w1)
        let second = try await store.beat(.begin, w2, lease: .seconds(9))
        #expect(Set(second.leases.keys) == [w1, w2])
        #expect(second.leases[w1] == first.leases[w1])
        #expect(second.leases[w2] == second.time.advanced(by: .seconds(9)))
    }

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

    @Test func aRenewalMovesTheEndAndTheBeat() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1, lease: .seconds(5))
        let renewed = try await store.beat(.renew, w1, lease: .seconds(60))
        #expect(renewed.held)
        #expect(renewed.leases[w1] == renewed.time.advanced(by: .seconds(60)))
        #expect(try await store.hash("{workers}:w1.aaaa")["beat"] == "\(renewed.time.milliseconds)")
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

    @Test func aLeaseThatHasPassedIsNeverRenewed() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1)
        let past = try await store.now().advanced(by: .milliseconds(-1)).milliseconds
        try await store.command("ZADD", "{workers}", "\(past)", w1.name)
        let before = try await store.hash("{workers}:w1.aaaa")

        for mode in [Heartbeat.Mode.renew, .end(after: .seconds(5)), .begin] {
            let refused = try await store.beat(mode, w1)
            #expect(!refused.held)
            #expect(refused.leases[w1]?.milliseconds == past)
            #expect(refused.time.milliseconds > past)
        }
        #expect(try await store.hash("{workers}:w1.aaaa") == before)
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

    @Test func aDrainEndsTheLeaseAfterGrace() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1, lease: .seconds(60))
        let ended = try await store.beat(.end(after: .seconds(2)), w1, lease: .seconds(60))
        #expect(ended.held)
        #expect(ended.leases[w1] == ended.time.advanced(by: .seconds(2)))
    }

    @Test func anIncarnationIsLookedUp() async throws {
        let store = try await StoreUnderTest()
        let unknown = try await store.standing(of: w1)
        #expect(unknown.leaseEnd == nil && unknown.beat == nil && unknown.time.milliseconds > 0)
        let beat = try await store.beat(.begin, w1, lease: .seconds(5))
        let known = try await store.standing(of: w1)
        #expect(known.leaseEnd == beat.time.advanced(by: .seconds(5)))
        #expect(known.beat == beat.time)
    }

    @Test func onlyTheDeadAreForgotten() async throws {
        let store = try await StoreUnderTest()
        try await store.beat(.begin, w1)
        #expect(try await store.forget(w1) == false)
        #expect(try await store.beat(.renew, w1).held)

        try await store.beat(.end(after: .zero), w1)
        try await eventually("the lease has passed") { try await store.forget(w1) }
        #expect(try await store.command("DBSIZE").integer == 0)
        #expect(try await store.forget(w1), "what is not known is forgotten already")
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
