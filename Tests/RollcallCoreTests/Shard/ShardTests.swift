import RedisTwin
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallCore

/// A host that does nothing by itself.
private final class IdleHost: Host {
    let store = TwinStore()
    let shard: Shard
    let now = at(.zero)
    private(set) var ticks = 0
    private(set) var wakes: [Instant] = []

    init() {
        shard = Shard(settings: .uncoalesced, worker: "w1", store: store, random: SeededGenerator(seed: 1))
        shard.host = self
    }

    func endTickSoon() { ticks += 1 }
    func wake(at instant: Instant) { wakes.append(instant) }
    func assertAnew(_: AssertionReason) {}
    func sweep(_: [HeldItem]) {}
    func received(_: WorkerNotice) {}

    func enter(_ user: UserID) {
        let session = shard.connected(AnyDevice(user: user))
        shard.after { $0.received(ClientRequest(.hello(.init(token: "t", device: "phone"))), on: session, at: $1) }
    }

    func begin() {
        let snapshot = LeaseSnapshot(held: true, time: Timestamp(milliseconds: 1000), leases: [:])
        let clock = RedisClock(time: snapshot.time, sent: now)
        var redis = RedisState(worker: "w1", lease: .seconds(5), heartbeat: .seconds(1))
        redis.began(w1, isFirst: true, snapshot, until: snapshot.time.advanced(by: .seconds(4)), clock: clock, at: now)
        shard.after { [redis] in $0.told(.began(redis, snapshot, lastBeat: nil), at: $1) }
    }
}

@Suite("What a shard asks of its host and its store")
struct ShardTests {
    @Test("sessions are listed a thousand at a time")
    func lists() {
        let host = IdleHost()
        for number in 0..<10_000 { host.enter(UserID(stringLiteral: "u\(number)")) }
        #expect(host.store.asked.isEmpty)
        host.begin()
        let listed = host.store.asked.compactMap { if case .list(let names) = $0.request { names.count } else { nil } }
        #expect(listed == Array(repeating: 1000, count: 10))
    }

    @Test("the end of a tick is asked for once, whatever happens in it")
    func tick() {
        let host = IdleHost()
        host.begin()
        host.enter("alice")
        host.enter("bob")
        #expect(host.ticks == 1)
        host.shard.endTick()
        host.shard.after { _, _ in }
        #expect(host.ticks == 2)
    }

    @Test("the host is asked to wake the shard once for each deadline, and again after it")
    func wake() {
        let host = IdleHost()
        host.begin()
        host.enter("alice")
        let wakes = host.wakes
        #expect(!wakes.isEmpty)
        for _ in 0..<10 { host.shard.after { _, _ in } }
        #expect(host.wakes == wakes, "the deadline is the same")
        host.shard.after { $0.timePassed(at: $1) }
        #expect(host.wakes.count == wakes.count + 1 && host.wakes.last == host.shard.nextDeadline)
    }
}
