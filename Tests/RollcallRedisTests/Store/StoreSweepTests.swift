// Sweeping what a dead incarnation left: claimed in batches, checked again one by one, taken offline.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

@Suite(.serialized) struct StoreSweepTests {
    private let aa = Session("aa").name

    @Test func sessionsAreNotedAndStruckOff() async throws {
        let store = try await StoreUnderTest()
        let other = Session("bb", device: tablet).name
        try await store.record([aa, other])
        #expect(
            Set(try await store.command("SMEMBERS", "worker:{w1.aaaa}:sessions").array?.map(\.string) ?? [])
                == ["alice phone aa", "alice tablet bb"])
        try await store.unrecord([aa])
        #expect(try await store.claim(limit: 10) == [other])
        try await store.unrecord([other])
        #expect(try await store.command("EXISTS", "worker:{w1.aaaa}:sessions").integer == 0)
    }

    @Test func aListAfterItsDeadlineIsNotBegun() async throws {
        let store = try await StoreUnderTest()
        let past = try await store.now().advanced(by: .milliseconds(-1))
        #expect(try await store.record([aa], until: past) == false)
        #expect(try await store.command("DBSIZE").integer == 0, "nobody would find it")
        #expect(try await store.record([aa]))
    }

    @Test func aBatchIsSweptWithTheLastBeatAndStruckOff() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ZADD", "{workers}", "1000", "w1.aaaa")
        try await store.command("HSET", "{workers}:w1.aaaa", "beat", "500")
        try await store.plant("active w1.aaaa 100-aa 7 200 0")
        try await store.record([aa])
        #expect(try await store.call { $0.sweep([self.aa], of: w1, until: .never, reply: $1) } == 1)
        #expect(try await store.record(of: alice).lastSeen?.milliseconds == 500)
        #expect(try await store.command("EXISTS", "worker:{w1.aaaa}:sessions").integer == 0)
    }

    @Test func ofABatchThoseWhoAreElsewhereStayAsTheyAre() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ZADD", "{workers}", "1000", "w1.aaaa")
        try await store.plant("active w2.bbbb 100-aa 7 200 0")
        try await store.record([aa])
        #expect(try await store.call { $0.sweep([self.aa], of: w1, until: .never, reply: $1) } == 0)
        #expect(try await store.record(of: alice).devices[phone]?.state == .active)
        #expect(try await store.command("EXISTS", "worker:{w1.aaaa}:sessions").integer == 0)
    }

    @Test func aBatchThatCameTooLateStaysOnTheList() async throws {
        let store = try await StoreUnderTest()
        try await store.plant("active w1.aaaa 100-aa 7 200 0")
        try await store.record([aa])
        let past = try await store.now().advanced(by: .milliseconds(-1))
        #expect(try await store.call { $0.sweep([self.aa], of: w1, until: past, reply: $1) } == nil)
        #expect(try await store.claim(limit: 1) == [aa])
    }

    @Test func theLivingAreNotSwept() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ZADD", "{workers}", "\(Timestamp.never.milliseconds)", "w1.aaaa")
        try await store.plant("active w1.aaaa 100-aa 7 200 0")
        #expect(try await store.call { $0.sweep([self.aa], of: w1, until: .never, reply: $1) } == nil)
        #expect(try await store.record(of: alice).devices[phone]?.state == .active)
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

    @Test func aBatchHasItsLimit() async throws {
        let store = try await StoreUnderTest()
        let sessions = (0..<7).map { Session("s", user: user("u\($0)")).name }
        try await store.record(sessions)
        let batch = try #require(try await store.claim(limit: 3), "the claim was refused")
        #expect(batch.count == 3 && Set(batch).isSubset(of: sessions))
    }

    @Test func oneSweeperAtATime() async throws {
        let store = try await StoreUnderTest()
        try await store.record([aa])
        #expect(try await store.claim(by: w2, limit: 5) == [aa])
        #expect((1...1000).contains(try await store.timeToLive("worker:{w1.aaaa}:sweeper")))
        #expect(try await store.claim(by: Incarnation(name: "w3.cccc"), limit: 5) == nil)

        try await store.command("PEXPIRE", "worker:{w1.aaaa}:sweeper", "60000")
        #expect(try await store.claim(by: w2, limit: 5) == [aa], "one's own claim goes on")
        #expect(try await store.timeToLive("worker:{w1.aaaa}:sweeper") <= 1000, "and is renewed")
        try await store.command("DEL", "worker:{w1.aaaa}:sweeper")
        #expect(try await store.claim(by: Incarnation(name: "w3.cccc"), limit: 5) == [aa])
    }

    @Test func strangeNamesDoNotHoldUpASweep() async throws {
        let store = try await StoreUnderTest()
        try await store.command("SADD", "worker:{w1.aaaa}:sessions", "what", "is {this} now", "a b ")
        #expect(try await store.claim(limit: 2) == [])
        #expect(try await store.command("EXISTS", "worker:{w1.aaaa}:sessions").integer == 0)
    }

    @Test func aDeadWorkersDeviceGoesOffline() async throws {
        let store = try await StoreUnderTest()
        let time = try await store.now()
        try await store.plant("active w1.aaaa 1000-aa 7 2000 0 ios")
        let subscriber = try await RawSubscriber(to: store)
        let beat = time.advanced(by: .seconds(-6))
        #expect(try await store.sweep(aa, lastBeat: beat) == .swept)

        let hash = try await store.hash("presence:{alice}")
        let at = try #require(hash["updated_at"])
        #expect(hash["device:phone"] == "gone w1.aaaa 1000-aa 7 \(at) 0 ios", "SESSION and SEQ stay")
        #expect(hash["status"] == "offline")
        #expect(
            try await subscriber.heard(on: "presence:{alice}") == [
                #"{"user":"alice","status":"offline","last_seen":\#(beat.milliseconds),"updated_at":\#(at),"#
                    + #""version":\#(at),"devices":0,"at":\#(at)}"#
            ])
        #expect(try await store.timeToLive("presence:{alice}") > 0)
        #expect(try await store.sweep(aa, lastBeat: time) == .kept, "it is gone already")
    }

    @Test func theLivingDevicesStay() async throws {
        let store = try await StoreUnderTest()
        try await store.plant("active w1.aaaa 1000-aa 7 2000 0")
        try await store.write(Session("bb", device: tablet, worker: w2).says(.idle, 1))
        #expect(try await store.sweep(aa, lastBeat: nil) == .swept)
        #expect(try await store.hash("presence:{alice}")["status"] == "away")
        #expect(try await store.timeToLive("presence:{alice}") == -1)
    }

    @Test(arguments: ["active w2.bbbb 1000-aa 7 2000 0", "active w1.aaaa 1000-bb 7 2000 0"])
    func whatCameSinceStays(record: String) async throws {
        let store = try await StoreUnderTest()
        try await store.plant(record)
        let subscriber = try await RawSubscriber(to: store)
        #expect(try await store.sweep(aa, lastBeat: nil) == .kept)
        #expect(try await store.hash("presence:{alice}") == ["device:phone": record])
        #expect(try await subscriber.heard().isEmpty)
    }

    @Test func whatIsNotThereIsNotSwept() async throws {
        let store = try await StoreUnderTest()
        #expect(try await store.sweep(aa, lastBeat: nil) == .kept)
        #expect(try await store.command("DBSIZE").integer == 0)
    }

    @Test func aSweepAfterItsDeadlineDoesNothing() async throws {
        let store = try await StoreUnderTest()
        try await store.plant("active w1.aaaa 1000-aa 7 2000 0")
        let past = try await store.now().advanced(by: .milliseconds(-1))
        #expect(try await store.sweep(aa, lastBeat: nil, until: past) == .expired)
        #expect(try await store.record(of: alice).devices[phone]?.state == .active)
    }

    @Test func aFencedWorkerBringsItsSessionBack() async throws {
        let store = try await StoreUnderTest()
        let session = Session("aa")
        let began = try await store.write(session.says(.active, 4)).began
        #expect(try await store.sweep(aa, lastBeat: nil) == .swept)
        let again = Session("aa", worker: Incarnation(name: "w1.bbbb"), began: began)
        #expect(try await store.write(again.says(.active, 4)).outcome == .done)
        #expect(try await store.write(again.says(.active, 5)).outcome == .written)
        #expect(try await store.record(of: alice).devices[phone]?.began == began)
        #expect(try await store.sweep(aa, lastBeat: nil) == .kept)
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
