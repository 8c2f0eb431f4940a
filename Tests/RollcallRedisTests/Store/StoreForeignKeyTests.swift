// Other software may use Rollcall's key names with other types. These keys are not changed, and cause no failure for
// others.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

@Suite(.serialized) struct StoreForeignKeyTests {
    private let list = "worker:{w1.aaaa}:sessions"
    private let aa = Session("aa").name

    private func holding(_ key: String) async throws -> StoreUnderTest {
        let store = try await StoreUnderTest()
        try await store.command("SET", key, "theirs")
        return store
    }

    @Test func aForeignRecordHoldsUpNoSweep() async throws {
        let store = try await holding("presence:{alice}")
        let bobs = Session("bb", user: bob).name
        try await store.command("ZADD", "{workers}", "1000", "w1.aaaa")
        try await store.plant("active w1.aaaa 100-bb 7 200 0", user: bob)
        try await store.record([aa, bobs])
        #expect(try await store.sweep(aa, lastBeat: nil) == .kept)
        #expect(try await store.call { $0.sweep([self.aa, bobs], of: w1, until: .never, reply: $1) } == 1)
        #expect(try await store.record(of: bob).devices[phone]?.state == nil)
        #expect(try await store.claim(limit: 5) == [], "nothing keeps the dead from being forgotten")
        #expect(try await store.command("GET", "presence:{alice}").string == "theirs")
    }

    @Test func aRemovalWhereAForeignKeyStandsIsDone() async throws {
        let store = try await holding("presence:{alice}")
        let error = await #expect(throws: RedisError.self) { try await store.write(Session("aa").says(.active, 1)) }
        #expect(error?.isForeignKey == true)
        #expect(try await store.write(Session("aa").says(nil, 2)).outcome == .done)
        #expect(try await store.command("GET", "presence:{alice}").string == "theirs")
    }

    @Test func aForeignListIsNone() async throws {
        let store = try await holding(list)
        #expect(try await store.record([aa]))
        try await store.unrecord([aa])
        #expect(try await store.claim(limit: 5) == [])
        #expect(try await store.call { $0.sweep([self.aa], of: w1, until: .never, reply: $1) } != nil)
        #expect(try await store.command("GET", list).string == "theirs")
    }

    @Test func aForeignClaimIsNobodys() async throws {
        let store = try await StoreUnderTest()
        try await store.record([aa])
        try await store.command("RPUSH", "worker:{w1.aaaa}:sweeper", "theirs")
        #expect(try await store.claim(limit: 5) == [aa])
    }

    @Test func aForeignHashHidesNobodysPresence() async throws {
        let store = try await holding("{workers}:w1.aaaa")
        try await store.command("ZADD", "{workers}", "\(Timestamp.never.milliseconds)", "w1.aaaa")
        try await store.write(Session("aa").says(.active, 1))
        let snapshot: PresenceSnapshot = try await store.call {
            $0.presence(of: [alice], known: KnownWorkers(), reply: $1)
        }
        #expect(snapshot.presences.map(\.status) == [.online])
        #expect(snapshot.standings[w1]?.beat == nil)
        let cards: [WorkerCard] = try await store.call { $0.cards(of: [w1], reply: $1) }
        #expect(cards.isEmpty)
    }

    @Test func aLeaseWhoseHashIsForeignIsLeftToPass() async throws {
        let store = try await StoreUnderTest()
        #expect(try await store.beat(.begin, w1, lease: .seconds(5)).held)
        try await store.command("DEL", "{workers}:w1.aaaa")
        try await store.command("SET", "{workers}:w1.aaaa", "theirs")
        let end = try await store.standing(of: w1).leaseEnd
        await #expect(throws: RedisError.self) { try await store.beat(.renew, w1, lease: .seconds(60)) }
        #expect(try await store.standing(of: w1).leaseEnd == end)
        #expect(try await store.beat(.begin, w1).held == false)
    }
}
