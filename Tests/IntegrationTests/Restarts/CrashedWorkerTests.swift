// A worker is killed and restarted under its id before its lease has expired: the new incarnation does not use the
// sessions of the old one.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A worker that is killed and restarted at once", .enabled(if: isSoaking))
struct CrashedWorkerTests {
    @Test("gets its devices back without a flap, and those that do not return are swept")
    func startedAgain() async throws {
        let fleet = try await Fleet(of: 2)
        let (redis, crashed) = (fleet.redis, fleet.workers[0])
        let observer = RollcallClient(url: fleet.workers[1].edge, device: "desk") { "observer" }
        observer.connect()
        let lost = try await crashed.device("lost", "phone")
        var clients: [RollcallClient] = []
        for number in 0..<20 {
            let client = RollcallClient(url: crashed.edge, device: "phone") { "user\(number)" }
            client.connect()
            clients.append(client)
        }
        let users = try (0..<20).map { try UserID("user\($0)") }
        let seen = Observer(observer.presence(of: users))
        let seenLost = Observer(observer.presence(of: "lost"))
        try await seen.sees("everybody", within: .seconds(20)) {
            $0.count == 20 && $0.values.allSatisfy { $0.status == .online }
        }
        try await seenLost.sees(.online, within: .seconds(20))
        let since = seen.all.count

        crashed.crash()
        let killed = ContinuousClock.now
        try await crashed.process.exitCode()
        lost.drop()
        let beat = try #require(Int64(try await redis.cli("HGET", "{workers}:\(crashed.incarnation)", "beat")))
        let written = try #require(Int64(try await redis.cli("HGET", "presence:{lost}", "last_seen")))
        try await fleet.startAgain(0)
        let gone = try await seenLost.sees(.offline, within: .seconds(20))
        #expect(gone - killed < .seconds(7), "at most the lease and two seconds")
        #expect(seenLost.last?.lastSeen == Timestamp(milliseconds: max(beat, written)))
        try await eventually("nothing is left of its previous incarnation") {
            try await redis.keys("*\(crashed.incarnation)*").isEmpty
        }
        clients[0].setState(.idle)
        try await seen.sees("the last change", within: .seconds(20)) { $0[users[0]]?.status == .away }
        let statuses = seen.all.dropFirst(since).flatMap(\.values).map(\.status)
        #expect(!statuses.contains(.offline))
        // A new worker accepts devices before it has a lease, and then has only its configured id as a name.
        let names = Set(clients.map(\.worker))
        #expect(names.isSubset(of: ["w1", fleet.workers[0].incarnation]), "\(names)")
    }
}
