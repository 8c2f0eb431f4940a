// Decisions of sessions and their effect on a user, with a real Redis and with its twin.

import RedisTwin
import RollcallCore
import RollcallProtocol
import Testing

@Suite(.serialized) struct ContractPresenceStories {
    private func presences(_ redis: any Contract) async throws -> [Presence] {
        try await redis.published().compactMap {
            if case .presence(let change, _) = $0 { change.presence } else { nil }
        }
    }

    @Test(arguments: Party.allCases) func aNewerSessionTakesTheDeviceOver(party: Party) async throws {
        let redis = try await party.open()
        let first = try await redis.write(Session("aa", age: .milliseconds(500)).says(.active, 3))
        let began = try #require(first.began)
        #expect(first.outcome == .written && began == first.time.advanced(by: .milliseconds(-500)))
        let second = try await redis.write(Session("bb", worker: w2).says(.idle, 1))
        #expect(second.outcome == .written)
        #expect(second.previous == .init(incarnation: w1, session: ByteString("\(began.milliseconds)-aa")))
        let late = try await redis.write(Session("aa", began: began).says(.active, 4))
        #expect(late.outcome == .replaced && late.began == nil && late.previous == nil)
        #expect(try await presences(redis).map(\.status) == [.online, .away])
    }

    @Test(arguments: Party.allCases) func ofTwoSessionsOfOneMillisecondTheSecondStays(party: Party) async throws {
        let redis = try await party.open()
        let first = try await redis.write(Session("aa").says(.active, 1))
        let second = try await redis.write(Session("bb").says(.active, 1))
        let (began, later) = (try #require(first.began), try #require(second.began))
        #expect(later > began)
        #expect(try await redis.write(Session("aa", began: began).says(.active, 2)).outcome == .replaced)
        #expect(try await redis.write(Session("cc", began: later).says(.active, 1)).outcome == .written, "not smaller")
    }

    @Test(arguments: Party.allCases) func aDecisionCountsOnceAndInOrder(party: Party) async throws {
        let redis = try await party.open()
        let session = Session("aa")
        let began = try await redis.write(session.says(.active, 5)).began
        _ = try await redis.published()
        for (sequence, outcome) in [(5, DeviceWritten.Outcome.done), (4, .late)] {
            let answer = try await redis.write(session.says(.idle, Int64(sequence)))
            #expect(answer.outcome == outcome && answer.began == began)
        }
        let past = try await redis.time().advanced(by: .milliseconds(-1))
        #expect(try await redis.write(session.says(.idle, 6, until: past)).outcome == .expired)
        #expect(try await redis.published().isEmpty)
        #expect(try await redis.write(session.says(.idle, 6)).outcome == .written)
    }

    @Test(arguments: Party.allCases) func goneDevicesCountForOrderForTenMinutes(party: Party) async throws {
        let redis = try await party.open()
        let time = try await redis.time()
        func gone(_ since: Duration) -> DeviceRecord {
            DeviceRecord(
                state: nil, incarnation: w2, began: time.advanced(by: .seconds(-1)), session: SessionID(random: "old"),
                sequence: 1, since: time.advanced(by: since), lost: nil)
        }
        let devices = [phone: gone(.seconds(-590)), tablet: gone(.seconds(-601))]
        try await redis.plant(
            PresenceRecord(user: alice, devices: devices, lastSeen: nil, updatedAt: time, version: 1))
        let older = Session("aa", age: .seconds(30))
        #expect(try await redis.write(older.says(.active, 1)).outcome == .replaced)
        #expect(try await redis.write(Session("bb", device: device("watch")).says(.active, 1)).previous == nil)
        let record = try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
        #expect(Set(record.devices.keys) == [phone, device("watch")])
    }

    @Test(arguments: Party.allCases) func ofVeryManyGoneDevicesTheNewestCount(party: Party) async throws {
        let redis = try await party.open()
        let time = try await redis.time()
        // Two left in each second; the last of all left when a clock was ahead of what it is now.
        let gone = (0..<60).map { index in
            DeviceRecord(
                state: nil, incarnation: w2, began: time, session: SessionID(random: "old"), sequence: 1,
                since: time.advanced(by: .seconds(1 - index / 2)), lost: nil)
        }
        func named(_ index: Int) -> DeviceID { device("d\(index + 10)") }
        var devices = Dictionary(uniqueKeysWithValues: gone.enumerated().map { (named($0), $1) })
        devices[tablet] = DeviceRecord(
            state: .idle, incarnation: w2, began: time, session: SessionID(random: "there"), sequence: 1,
            since: time.advanced(by: .seconds(-900)), lost: nil)
        try await redis.plant(
            PresenceRecord(user: alice, devices: devices, lastSeen: nil, updatedAt: time, version: 1))

        _ = try await redis.write(Session("aa").says(.active, 1))
        var record = try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
        #expect(Set(record.devices.keys) == Set([phone, tablet] + (0..<32).map(named)))
        _ = try await redis.write(Session("aa").says(nil, 2))
        record = try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
        #expect(
            Set(record.devices.keys) == Set([phone, tablet] + (0..<31).map(named)), "by name where they went at once")
    }

    @Test(arguments: Party.allCases) func devicesThatComeAndGoLeaveARecordOfBoundedSize(party: Party) async throws {
        let redis = try await party.open()
        for index in 0..<100 {
            let session = Session("s\(index)", device: device("d\(index)"))
            _ = try await redis.write(session.says(.active, 1))
            _ = try await redis.write(session.says(nil, 2))
        }
        let record = try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
        #expect(record.devices.count == 32 && record.devices[device("d99")] != nil)
    }

    @Test(arguments: Party.allCases) func versionsGrowOverWhateverWasStored(party: Party) async throws {
        let redis = try await party.open()
        let time = try await redis.time()
        let ahead = time.milliseconds + 60_000
        try await redis.plant(
            PresenceRecord(user: alice, devices: [:], lastSeen: nil, updatedAt: time, version: ahead))
        _ = try await redis.write(Session("aa").says(.active, 1))
        _ = try await redis.write(Session("aa").says(.idle, 2))
        #expect(try await presences(redis).map(\.version) == [ahead + 1, ahead + 2])
        try await redis.flush()
        let anew = try await redis.write(Session("aa").says(.idle, 3))
        #expect(try await presences(redis).map(\.version) == [anew.time.milliseconds])
    }

    @Test(arguments: Party.allCases) func lastSeenIsWhenSomebodyWasReallyThere(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.write(Session("aa").says(.background, 1))
        let active = try await redis.write(Session("aa").says(.active, 2))
        let lost = active.time.advanced(by: .milliseconds(-200))
        _ = try await redis.write(Session("aa").says(.active, 3, lost: lost))
        _ = try await redis.write(Session("aa").says(nil, 4))
        #expect(try await presences(redis).map(\.lastSeen) == [nil] + Array(repeating: active.time, count: 3))

        let away = try await redis.write(Session("bb", device: tablet).says(.idle, 1))
        let last = try await redis.write(Session("bb", device: tablet).says(.background, 2))
        #expect(try await presences(redis).map(\.lastSeen) == [away.time, last.time])
    }

    @Test(arguments: Party.allCases) func aReadLooksUpWhoIsNotKnownToLive(party: Party) async throws {
        let redis = try await party.open()
        let beat = try await redis.heartbeat(.begin(w2), lease: .seconds(5))
        _ = try await redis.write(Session("aa", worker: w1).says(.active, 1))
        _ = try await redis.write(Session("bb", device: tablet, worker: w2).says(.active, 1))
        _ = try await redis.write(Session("cc", user: bob, worker: w3).says(.active, 1))
        _ = try await redis.write(Session("cc", user: bob, worker: w3).says(nil, 2))
        let snapshot = try await redis.presence(of: [alice, bob, user("carol")], known: KnownWorkers(living: [w1]))
        #expect(snapshot.records.map(\.user) == [alice, bob, user("carol")])
        #expect(Set(snapshot.standings.keys) == [w2], "w1 lives, and nobody depends on w3")
        #expect(snapshot.standings[w2]?.leaseEnd == beat.time.advanced(by: .seconds(5)))
        #expect(snapshot.standings[w2]?.beat == beat.time)
    }

    @Test(arguments: Party.allCases) func whoIsNotThereIsDeadToAReaderWhoIs(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.write(Session("aa", worker: w1).says(.active, 1))
        let reader = KnownWorkers(own: w2)
        #expect(try await redis.presence(of: [alice], known: KnownWorkers()).standings.isEmpty)
        #expect(try await redis.presence(of: [alice], known: reader).standings.isEmpty, "it knows neither")
        _ = try await redis.heartbeat(.begin(w2), lease: .seconds(5))
        let standings = try await redis.presence(of: [alice], known: reader).standings
        #expect(standings[w1]?.isDead == true && standings[w2]?.isDead == false)
        #expect(try await redis.presence(of: [alice], known: KnownWorkers(own: w2, living: [w1])).standings.isEmpty)
        let known = KnownWorkers(own: w2, living: [w2])
        #expect(try await redis.presence(of: [alice], known: known).standings.keys.sorted { $0.name < $1.name } == [w1])
        let ended = try await redis.heartbeat(.end(w2, after: .zero), lease: .seconds(5))
        try await redis.wait(until: ended.time.advanced(by: .milliseconds(1)))
        #expect(try await redis.presence(of: [alice], known: reader).standings.isEmpty, "its own lease has passed")
    }

    @Test(arguments: Party.allCases) func anAuditReadsRecordAndList(party: Party) async throws {
        let redis = try await party.open()
        let (there, listed) = (Session("aa"), Session("bb", device: tablet))
        _ = try await redis.write(there.says(.active, 1))
        #expect(try await redis.record([listed.name], of: w1, until: .never))
        let revoked = try await redis.revokeTokens(of: alice, issuedBefore: nil)
        let before = try await redis.keys()
        let found = try await redis.audit([there.name, listed.name], of: w1)
        #expect(found.map { $0.record?.session } == [SessionID(random: "aa"), nil])
        #expect(found.map(\.isListed) == [false, true])
        #expect(found.map(\.revoked) == [revoked, revoked])
        #expect(try await redis.keys() == before)
    }

    @Test(arguments: Party.allCases) func ofTwoRevocationsTheLaterCounts(party: Party) async throws {
        let redis = try await party.open()
        let (first, second) = (Timestamp(milliseconds: 9000), Timestamp(milliseconds: 5000))
        #expect(try await redis.revokeTokens(of: alice, issuedBefore: second) == second)
        #expect(try await redis.revokeTokens(of: alice, issuedBefore: first) == first)
        #expect(try await redis.revokeTokens(of: alice, issuedBefore: second) == first)
        #expect(try await redis.audit([Session("aa").name], of: w1).map(\.revoked) == [first])
    }

    @Test(arguments: Party.allCases) func aRevokedTokenWritesNothingButARemoval(party: Party) async throws {
        let redis = try await party.open()
        var old = Session("aa").says(.active, 1)
        old.issued = try await redis.time()
        #expect(try await redis.write(old).outcome == .written)
        try await redis.wait(until: try await redis.time().advanced(by: .milliseconds(2)))
        let revoked = try await redis.revokeTokens(of: alice, issuedBefore: nil)
        let before = try await redis.keys().mapValues(\.content)
        old = Session("aa").says(.idle, 2)
        old.issued = revoked.advanced(by: .milliseconds(-1))
        let refused = try await redis.write(old)
        #expect(refused.outcome == .revoked && refused.began == nil)
        #expect(try #require(refused.revokedAgo) < .seconds(10), "and how long ago they were revoked")
        #expect(try await redis.keys().mapValues(\.content) == before)
        var other = Session("zz").says(nil, 1)
        other.issued = old.issued
        #expect(try await redis.write(other).outcome == .revoked, "it takes the device from nobody")
        old.state = nil
        #expect(try await redis.write(old).outcome == .written)
        var fresh = Session("bb").says(.active, 1)
        fresh.issued = revoked
        #expect(try await redis.write(fresh).outcome == .written)
        fresh = Session("cc", device: tablet).says(.active, 1)
        #expect(try await redis.write(fresh).outcome == .written, "it needs no token")
    }
}
