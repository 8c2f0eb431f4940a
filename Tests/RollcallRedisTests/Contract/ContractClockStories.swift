// Redis's clock set back and forward, with a real Redis and with its twin.

import RedisTwin
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: SettableClock.isAvailable)) struct ContractClockStories {
    private static let hour = Duration.seconds(3600)

    // MARK: Sessions

    @Test("after a step back, a new session takes the device over and keeps it", arguments: Party.allCases)
    func newSession(party: Party) async throws {
        let redis = try await party.open()
        let before = try #require(try await redis.write(Session("aa").says(.active, 1)).began)
        try await redis.setClock(by: .zero - Self.hour)
        let taken = try await redis.write(Session("bb", worker: w2).says(.active, 1))
        #expect(taken.outcome == .written && taken.previous?.incarnation == w1)
        let began = try #require(taken.began)
        #expect(began <= taken.time)
        let again = Session("aa", began: before, age: .seconds(9)).says(.active, 2)
        #expect(try await redis.write(again).outcome == .replaced, "it began before the step")
        #expect(try await redis.write(Session("aa", began: before, age: .seconds(9)).says(nil, 3)).outcome == .replaced)
        #expect(try await redis.write(Session("cc").says(.active, 1)).outcome == .written)
        let stood = try await redis.write(Session("bb", began: began, age: .seconds(1)).says(.active, 2))
        #expect(stood.outcome == .replaced)
    }

    @Test("after a step back, the record of a device that has left refuses no session", arguments: Party.allCases)
    func goneDevice(party: Party) async throws {
        let redis = try await party.open()
        let session = Session("aa")
        let began = try await redis.write(session.says(.active, 1)).began
        #expect(try await redis.write(Session("aa", began: began).says(nil, 2)).outcome == .written)
        try await redis.setClock(by: .zero - Self.hour)
        #expect(try await redis.write(Session("bb").says(.active, 1)).outcome == .written)
    }

    @Test("of two sessions from before a step back, the newer one keeps the device", arguments: Party.allCases)
    func sessionsOfBefore(party: Party) async throws {
        for step in [Duration.seconds(5), Self.hour] {
            let redis = try await party.open()
            let (old, new) = (Session("aa", age: .seconds(60)), Session("bb", worker: w2, age: .seconds(2)))
            let oldBegan = try await redis.write(old.says(.active, 1)).began
            let newBegan = try await redis.write(new.says(.active, 1)).began
            try await redis.setClock(by: .zero - step)
            // The worker of the older session was cut off, and returns.
            let again = Session("aa", began: oldBegan, age: .seconds(61))
            #expect(try await redis.write(again.says(.active, 2)).outcome == .replaced)
            #expect(try await redis.write(again.says(nil, 3)).outcome == .replaced)
            let stands = Session("bb", worker: w2, began: newBegan, age: .seconds(3))
            #expect(try await redis.write(stands.says(.idle, 2)).outcome == .written)
            #expect(try await redis.write(again.says(.active, 4)).outcome == .replaced)
        }
    }

    @Test(
        "a session from before a step is older than one from after it once the clock reaches that time again",
        arguments: Party.allCases)
    func caughtUp(party: Party) async throws {
        let redis = try await party.open()
        let began = try await redis.write(Session("aa").says(.active, 1)).began
        try await redis.setClock(by: .milliseconds(-800))
        let new = try await redis.write(Session("bb", worker: w2).says(.active, 1))
        #expect(new.outcome == .written)
        try await redis.wait(until: new.time.advanced(by: .milliseconds(900)))
        let again = Session("aa", began: began, age: .seconds(2))
        #expect(try await redis.write(again.says(.active, 2)).outcome == .replaced)
    }

    @Test("future times in a record are read as now", arguments: Party.allCases)
    func readAsNow(party: Party) async throws {
        let redis = try await party.open()
        let first = try await redis.write(Session("aa").says(.active, 1))
        try await redis.setClock(by: .zero - Self.hour)
        let session = Session("aa", began: first.began, age: .seconds(3))
        let second = try await redis.write(session.says(.active, 2, lost: first.time))
        #expect(second.outcome == .written)
        let record = try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
        let device = try #require(record.devices[phone])
        #expect(device.since == second.time && device.lost == second.time)
        #expect(record.lastSeen == second.time && record.updatedAt == second.time)
        #expect(record.version == first.time.milliseconds + 1, "versions go on")
    }

    @Test(
        "a revocation by a host whose clock was ahead refuses no new tokens until then, but all older ones",
        arguments: Party.allCases)
    func revocation(party: Party) async throws {
        let redis = try await party.open()
        let now = try await redis.time()
        let revoked = try await redis.revokeTokens(of: alice, issuedBefore: now.advanced(by: Self.hour))
        var write = Session("aa").says(.active, 1)
        write.issued = now.advanced(by: .seconds(-60))
        #expect(try await redis.write(write).outcome == .revoked)
        write.issued = now.advanced(by: .seconds(60))
        #expect(try await redis.write(write).outcome == .written)
        let found = try #require(try await redis.audit([write.name], of: w1)[0].revoked)
        #expect(found < revoked && found <= now.advanced(by: .seconds(10)))
        let key = try #require(try await redis.keys()["revoked:{alice}"])
        #expect(key.expires != nil, "it is kept as long as before")
    }

    /// If it were set back to the clock of one host that is behind, tokens would be valid again on all workers.
    @Test(
        "a revocation that only one host's clock sees in the future stays as it is", arguments: Party.allCases)
    func revocationBehind(party: Party) async throws {
        let redis = try await party.open()
        let host = try await redis.time()
        try await redis.setClock(by: Self.hour)
        let revoked = try await redis.revokeTokens(of: alice, issuedBefore: host.advanced(by: .seconds(1800)))
        var write = Session("aa").says(.active, 1)
        write.issued = host.advanced(by: .seconds(1700))
        #expect(try await redis.write(write).outcome == .revoked)
        #expect(try await redis.audit([write.name], of: w1)[0].revoked == revoked)
    }

    @Test(
        "a revocation has the later of the host's time and Redis's, and refuses the tokens issued before that",
        arguments: Party.allCases, [hour, .zero - hour])
    func revocationByTheLaterClock(party: Party, step: Duration) async throws {
        let redis = try await party.open()
        let now = try await redis.time()
        try await redis.setClock(by: step)
        _ = try await redis.revokeTokens(of: alice, issuedBefore: nil)
        var write = Session("aa").says(.active, 1)
        for (issued, outcome) in [(-600, DeviceWritten.Outcome.revoked), (600, step > .zero ? .revoked : .written)] {
            write.issued = now.advanced(by: .seconds(issued))
            #expect(try await redis.write(write).outcome == outcome)
        }
        // Refused until Redis's clock has come there, or is set right.
        try await redis.setClock(by: .zero - step)
        #expect(try await redis.write(write).outcome == (step > .zero ? .written : .done))
    }

    @Test(
        "if only Redis's clock is set back, a revocation still refuses the same tokens",
        arguments: Party.allCases)
    func revocationStays(party: Party) async throws {
        let redis = try await party.open()
        let revoked = try await redis.revokeTokens(of: alice, issuedBefore: nil)
        try await redis.setClock(by: .zero - Self.hour)
        var write = Session("aa").says(.active, 1)
        write.issued = revoked.advanced(by: .seconds(-60))
        #expect(try await redis.write(write).outcome == .revoked)
        write.issued = revoked.advanced(by: .seconds(60))
        #expect(try await redis.write(write).outcome == .written)
    }

    // MARK: Typing

    @Test("typing from before a step back is not read, can be signalled again, and stops", arguments: Party.allCases)
    func typing(party: Party) async throws {
        let redis = try await party.open(.init(typingExpiry: .seconds(60)))
        for (user, device) in [(alice, phone), (alice, tablet), (bob, phone)] {
            #expect(try await redis.signal(user, device) == .typing)
        }
        try await redis.setClock(by: .zero - Self.hour)
        #expect(try await redis.typists().isEmpty)
        _ = try await redis.published()

        let time = try await redis.time()
        #expect(try await redis.signal(alice) == .typing)
        let typists = try await redis.typists()
        #expect(typists.map(\.user) == [alice])
        #expect(typists.allSatisfy { $0.expiry >= time && $0.expiry <= time.advanced(by: .seconds(70)) })
        let keys = try await redis.keys()
        #expect(keys["typing:{lounge}:alice"]?.content == ["phone"])
        let until = try #require(keys["typing:{lounge}"]?.expires)
        #expect(until <= time.advanced(by: .seconds(70)), "with it goes what nobody stops")
        #expect(try await redis.stop(alice, until: time.advanced(by: .seconds(100))) == .stopped)
        #expect(try await redis.keys()["typing:{lounge}"] == nil)
        #expect(try await redis.published().typing.map(\.typing) == [true, false])
    }

    @Test("typing from before a step back stops with the first stop, of any device", arguments: Party.allCases)
    func stopping(party: Party) async throws {
        let redis = try await party.open(.init(typingExpiry: .seconds(60)))
        for device in [phone, tablet] { _ = try await redis.signal(alice, device) }
        try await redis.setClock(by: .zero - Self.hour)
        _ = try await redis.published()
        let soon = try await redis.time().advanced(by: .seconds(60))
        #expect(try await redis.stop(alice, until: soon) == .stopped)
        #expect(try await redis.published().typing.map(\.typing) == [false])
        #expect(try await redis.keys().isEmpty)
    }

    // MARK: Leases

    @Test("a lease from before a step back ends its own length from now, once", arguments: Party.allCases)
    func leases(party: Party) async throws {
        let redis = try await party.open()
        for worker in [w1, w2] { #expect(try await redis.heartbeat(.begin(worker), lease: .seconds(60)).held) }
        try await redis.setClock(by: .zero - Self.hour)

        let renewed = try await redis.heartbeat(.renew(w1), lease: .seconds(60))
        let end = renewed.time.advanced(by: .seconds(60))
        #expect(renewed.held && renewed.leases == [w1: end, w2: end] && renewed.living == [w1, w2])
        let standing = try await redis.standing(of: w2)
        #expect(standing.leaseEnd == end && standing.beat == renewed.time)
        try await redis.wait(until: renewed.time.advanced(by: .milliseconds(5)))
        let again = try await redis.heartbeat(.renew(w1), lease: .seconds(60))
        #expect(again.leases[w2] == end, "a dead worker's lease moves once")
    }

    @Test("a lease whose worker's hash is gone is set back with the clock as well", arguments: Party.allCases)
    func newWorker(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.heartbeat(.begin(w2), lease: .seconds(60))
        try await redis.setClock(by: .zero - Self.hour)
        let begun = try await redis.heartbeat(.begin(w1), lease: .seconds(5))
        #expect(begun.held && begun.leases[w2].map { $0 <= begun.time.advanced(by: .seconds(60)) } == true)
    }

    @Test("a step forward ends leases, typing and claims, and everything starts again", arguments: Party.allCases)
    func forward(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.heartbeat(.begin(w1), lease: .seconds(60))
        _ = try await redis.signal(alice)
        let first = try await redis.write(Session("aa").says(.active, 1))
        try await redis.setClock(by: Self.hour)
        #expect(try await redis.heartbeat(.renew(w1), lease: .seconds(60)).held == false)
        #expect(try await redis.heartbeat(.begin(w2), lease: .seconds(60)).living == [w2])
        #expect(try await redis.typists().isEmpty)
        let again = Session("aa", worker: w2, began: first.began, age: .seconds(3))
        #expect(try await redis.write(again.says(.active, 2)).outcome == .written)
        #expect(try await redis.write(Session("bb").says(.active, 1)).outcome == .written)
    }

    @Test("a claim to sweep from before a step back delays no worker", arguments: Party.allCases)
    func claim(party: Party) async throws {
        let redis = try await party.open()
        #expect(try await redis.record([Session("aa").name], of: w1, until: .never))
        #expect(try await redis.claimSweep(of: w1, by: w2, limit: 10)?.count == 1)
        try await redis.setClock(by: .zero - Self.hour)
        #expect(try await redis.claimSweep(of: w1, by: w3, limit: 10)?.count == 1)
    }
}
