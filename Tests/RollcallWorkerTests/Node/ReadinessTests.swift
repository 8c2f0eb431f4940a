// When a worker should receive new devices.

import Foundation
import RollcallProtocol
import RollcallRedis
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

    /// Regression: users of a killed worker stayed online for as long as outages followed one another, and nothing said so.
    @Test("outages that follow one another are tolerated as long as one, and one that was long counts from its end")
    func unsettled() {
        var readiness = readiness
        readiness.begins("w1.a", at: start)
        readiness.fails(isOutage: true, at: start)
        readiness.renews(afterGap: true, at: start + .seconds(40))
        #expect(readiness.isReady(at: start + .seconds(40)))
        for second in stride(from: 44, through: 72, by: 4) {
            readiness.renews(afterGap: true, at: start + .seconds(second))
        }
        #expect(!readiness.isReady(at: start + .seconds(72)) && readiness.holdsLease)
        readiness.renews(after: .seconds(6), at: start + .seconds(78))
        #expect(readiness.isReady(at: start + .seconds(78)))
    }

    /// Regression: ten of twenty joins were never answered, and balancers were told that all was well.
    @Test("a connection that is missing counts, but not while nothing else of the worker reaches that server")
    func missing() {
        let servers = [1, 2].map { RedisLocation.Address.host("r\($0)", port: 6379) }
        let loops = [NSObject(), NSObject()]
        func links(_ isConnected: Bool..., to server: RedisLocation.Address) -> [LoopFigures.Link: Bool] {
            Dictionary(
                uniqueKeysWithValues: zip(loops, isConnected).map {
                    (LoopFigures.Link(loop: ObjectIdentifier($0), purpose: .messages, server: server), $1)
                })
        }
        var missing = MissingLinks()
        missing.observe(links(true, true, to: servers[0]), at: start)
        #expect(missing.first == nil)
        missing.observe(links(true, false, to: servers[0]), at: start + .seconds(1))
        missing.observe(links(true, false, to: servers[0]), at: start + .seconds(2))
        #expect(missing.first == start + .seconds(1))
        var readiness = readiness
        readiness.begins("w1.a", at: start + .seconds(31))
        readiness.missingSince = missing.first
        #expect(readiness.isReady(at: start + .seconds(31)) && !readiness.isReady(at: start + .seconds(32)))
        missing.observe(
            links(true, true, to: servers[0]).merging(links(false, false, to: servers[1])) { $1 }, at: start)
        #expect(missing.first == nil, "that primary is down")
    }

    @Test(
        "a server that cannot do what a worker needs is told apart by what it says of itself",
        arguments: [
            ("redis_version:6.0.16\r\nredis_mode:standalone\r\n", "6.0.16"), ("redis_version:6.2.0\r\n", nil),
            ("", nil),
            ("redis_version:10.0.0\r\n", nil), ("redis_version:6.0.0\r\nvalkey_version:8.0.1\r\n", nil),
            ("redis_version:7.0.15\r\nredis_mode:cluster\r\ncluster_size:3\r\n", "redis+cluster://"),
            ("redis_version:7.0.15\r\nredis_mode:cluster\r\ncluster_size:1\r\n", nil),
            ("redis_version:7.0.15\r\nredis_mode:cluster\r\n", nil),
        ])
    func server(info: String, word: String?) throws {
        let location = try RedisDeployment(url: "redis://127.0.0.1")
        let refusal = ServerFacts([ByteString(info)]).refusal(at: location)
        #expect(refusal?.description.contains(word ?? "?") == word.map { _ in true })
        let cluster = try RedisDeployment(url: "redis+cluster://127.0.0.1")
        #expect(word != "redis+cluster://" || ServerFacts([ByteString(info)]).refusal(at: cluster) == nil)
    }

    @Test(
        "it is told whether the server deletes keys to make room",
        arguments: [
            ("noeviction", "1000", nil), ("volatile-lru", "1000", "volatile-lru"), ("allkeys-lru", "0", nil),
        ])
    func eviction(policy: String, most: String, told: String?) {
        let info = ByteString("maxmemory:\(most)\r\nmaxmemory_policy:\(policy)\r\n")
        #expect(ServerFacts(["", info]).eviction == told)
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

    fileprivate mutating func renews(
        after pause: Duration = .zero, afterGap: Bool = false, at now: ContinuousClock.Instant
    ) {
        var state = state
        state.renewed(
            incarnation!, Self.snapshot, until: Self.snapshot.time, clock: .unknown, afterGap: afterGap,
            at: Self.moment + pause)
        told(.renewed(state, Self.snapshot), at: now)
    }

    fileprivate mutating func fails(isOutage: Bool = false, at now: ContinuousClock.Instant) {
        var state = state
        state.heartbeatsFail(isOutage: isOutage, at: Self.moment)
        told(.heartbeatsFail(state), at: now)
    }

    fileprivate mutating func loses(at now: ContinuousClock.Instant) {
        var state = state
        state.lost()
        told(.lost(state), at: now)
    }
}
