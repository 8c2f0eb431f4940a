// Sweeping what a dead incarnation left: claimed in batches, checked again one by one, taken offline.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

@Suite(.serialized) struct StoreSweepTests {
    private let aa = Session("aa").name

    @Test func ofABatchThoseWhoAreElsewhereStayAsTheyAre() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ZADD", "{workers}", "1000", "w1.aaaa")
        try await store.plant("active w2.bbbb 100-aa 7 200 0")
        try await store.record([aa])
        #expect(try await store.call { $0.sweep([self.aa], of: w1, until: .never, reply: $1) } == 0)
        #expect(try await store.record(of: alice).devices[phone]?.state == .active)
        #expect(try await store.command("EXISTS", "worker:{w1.aaaa}:sessions").integer == 0)
    }

    @Test func tenThousandSessionsAreNotedAtOnce() async throws {
        let store = try await StoreUnderTest()
        let sessions = (0..<10_001).map { Session("s", user: user("u\($0)")).name }
        try await store.record(sessions)
        #expect(try await store.command("SCARD", "worker:{w1.aaaa}:sessions").integer == 10_001)
        try await store.unrecord(sessions)
        #expect(try await store.command("EXISTS", "worker:{w1.aaaa}:sessions").integer == 0)
        try await store.record([])
    }

    @Test func anErrorAmongBatchesIsTold() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ACL", "SETUSER", "rollcall", "resetkeys", "~presence:*")
        let sessions = (0..<2500).map { Session("s", user: user("u\($0)")).name }
        let error = await #expect(throws: RedisError.self) { try await store.record(sessions) }
        #expect(error?.code == .server(kind: "NOPERM"))
    }

    @Test func strangeNamesDoNotHoldUpASweep() async throws {
        let store = try await StoreUnderTest()
        try await store.command("SADD", "worker:{w1.aaaa}:sessions", "what", "is {this} now", "a b ")
        #expect(try await store.claim(limit: 2) == [])
        #expect(try await store.command("EXISTS", "worker:{w1.aaaa}:sessions").integer == 0)
    }

    @Test(arguments: [
        ("active w1.aaaa 1000-aa 7 2000 0", 5000), ("idle w1.aaaa 1000-aa 7 2000 0", 5000),
        ("active w1.aaaa 1000-aa 7 2000 4000", 4000), ("idle w1.aaaa 1000-aa 7 2000 9000", 9000),
        ("background w1.aaaa 1000-aa 7 2000 0", 3000), ("background w1.aaaa 1000-aa 7 2000 9000", 3000),
        ("active w1.aaaa 1000-aa 7 2000 2500", 3000),
    ])
    func aSweptDeviceWasSeenUntilItsLossOrItsWorkersLastBeat(record: String, seen: Int64) async throws {
        let store = try await StoreUnderTest()
        try await store.plant(record)
        try await store.command("HSET", "presence:{alice}", "last_seen", "3000")
        #expect(try await store.sweep(aa, lastBeat: Timestamp(milliseconds: 5000)) == .swept)
        #expect(try await store.record(of: alice).lastSeen?.milliseconds == seen)
    }
}

extension StoreUnderTest {
    @discardableResult
    func record(
        _ sessions: [SessionName], of incarnation: Incarnation = w1, until: Timestamp = .never
    ) async throws -> Bool {
        try await call { $0.record(sessions, of: incarnation, until: until, reply: $1) }
    }

    func unrecord(_ sessions: [SessionName], of incarnation: Incarnation = w1) async throws {
        try await call { $0.unrecord(sessions, of: incarnation, reply: $1) }
    }

    func claim(of dead: Incarnation = w1, by claimant: Incarnation = w2, limit: Int) async throws -> [SessionName]? {
        try await call { $0.claimSweep(of: dead, by: claimant, limit: limit, reply: $1) }
    }

    func sweep(
        _ session: SessionName, of dead: Incarnation = w1, lastBeat: Timestamp?, until: Timestamp = .never
    ) async throws -> SweepOutcome {
        try await call { $0.sweep(session, of: dead, lastBeat: lastBeat, until: until, reply: $1) }
    }
}
