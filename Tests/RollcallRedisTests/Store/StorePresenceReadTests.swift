// Reads of several users: an error in one does not affect the others, and devices of workers known to be alive are
// counted instead of listed.

import RollcallModel
import RollcallRedis
import TestSupport
import Testing

@Suite struct StorePresenceReadTests {
    @Test func whoMayNotBeReadKeepsBackNobodyElse() async throws {
        let store = try await StoreUnderTest()
        try await store.write(Session("aa").says(.active, 1))
        try await store.write(Session("bb", user: bob).says(.idle, 1))
        try await store.command("ACL", "SETUSER", "rollcall", "resetkeys", "~presence:{alice}", "~{workers}*")
        let snapshot = try await store.snapshot(of: [bob, alice, user("carol")])
        #expect(snapshot.presences.map(\.user) == [alice] && snapshot.presences.map(\.status) == [.online])
        #expect(snapshot.unread == [bob, user("carol")])

        try await store.command("ACL", "SETUSER", "rollcall", "resetkeys", "~{workers}*")
        let error = await #expect(throws: RedisError.self) { try await store.snapshot(of: [bob, alice]) }
        #expect(error?.code == .server(kind: "NOPERM"), "where nobody could be read, it says why")
    }

    @Test func devicesOfTheLivingAreCountedAndNotListed() async throws {
        let store = try await StoreUnderTest()
        try await store.write(Session("aa").says(.idle, 1))
        try await store.write(Session("bb", device: tablet, worker: w2).says(.active, 1))
        let all = try await store.record(of: alice)
        for living: Set<Incarnation> in [[], [w1], [w2], [w1, w2], [Incarnation(name: "w1.aaa")]] {
            let record = try await store.snapshot(of: [alice], known: KnownWorkers(living: living)).records[0]
            #expect(record == all.counting(living))
            #expect(record.presence(past: [:]) == all.presence(past: [:]))
        }
        let own = try await store.snapshot(of: [alice], known: KnownWorkers(living: [w1])).records[0]
        #expect(own.countedStatus == .away && Array(own.devices.keys) == [tablet])
    }

    /// Records of this version, of later versions and invalid ones: the result must be the same with either kind of
    /// read.
    @Test func aRecordComesToTheSameWhetherItsDevicesAreCountedOrListed() async throws {
        let store = try await StoreUnderTest()
        let states = ["active", "idle", "background", "gone", "driving", ""]
        let rests = ["5-b 1 2 0", "5-b 1 2 9", "5-b 1 2 0 more words", "5b 1 2 0", "5-b 1 2", "5- 1 2 0", "5-b +1 2 x"]
        var random = SeededGenerator(seed: 7)
        for round in 0..<60 {
            try await store.command("DEL", "presence:{alice}")
            for number in 0..<Int.random(in: 1...4, using: &random) {
                let words = [
                    states.randomElement(using: &random)!, [w1, w2].randomElement(using: &random)!.name,
                    rests.randomElement(using: &random)!,
                ]
                try await store.command(
                    "HSET", "presence:{alice}", "device:d\(number)", words.joined(separator: " "), "version", "7",
                    "last_seen", ["5", "-5", "x", ""].randomElement(using: &random)!, "shiny", "new")
            }
            var all = try await store.record(of: alice)
            var counted = try await store.snapshot(of: [alice], known: KnownWorkers(living: [w1])).records[0]
            // The reads are of two moments.
            (all.absentVersion, counted.absentVersion) = (nil, nil)
            #expect(counted == all.counting([w1]), "round \(round)")
            #expect(counted.presence(past: [:]) == all.presence(past: [:]), "round \(round)")
        }
    }
}

extension StoreUnderTest {
    @discardableResult
    fileprivate func snapshot(of users: [UserID], known: KnownWorkers = KnownWorkers()) async throws -> PresenceSnapshot
    {
        try await call { $0.presence(of: users, known: known, reply: $1) }
    }
}
