// What background devices leave of a record that observers are shown, told to a real Redis and to its twin.

import RedisTwin
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@Suite(.serialized) struct ContractBackgroundStories {
    private func record(_ redis: any Contract) async throws -> PresenceRecord {
        try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
    }

    /// Alice was active on her phone, and is gone.
    private func offline(_ redis: any Contract) async throws -> PresenceRecord {
        _ = try await redis.write(Session("aa").says(.active, 1))
        _ = try await redis.write(Session("aa").says(nil, 2))
        _ = try await redis.published()
        return try await record(redis)
    }

    /// Regression: after the clock was set back, such a write stored the last seen time as it was clamped to the clock,
    /// and so told observers of itself.
    @Test(arguments: Party.allCases, SettableClock.isAvailable ? [Duration.zero, .seconds(-60)] : [.zero])
    func theyChangeOnlyTheirOwnField(party: Party, step: Duration) async throws {
        let redis = try await party.open()
        let before = try await offline(redis)
        if step != .zero { try await redis.setClock(by: step) }
        let writes = [
            Session("bb", device: tablet).says(.background, 1), Session("cc", device: tablet).says(.background, 1),
            Session("dd", device: device("watch")).says(.background, 1), Session("cc", device: tablet).says(nil, 2),
        ]
        for write in writes {
            #expect(try await redis.write(write).outcome == .written)
            let after = try await record(redis)
            #expect(after.version == before.version && after.presence(past: [:]) == before.presence(past: [:]))
            #expect(after.devices[write.name.device]?.session == write.name.session)
            #expect(try await redis.published().isEmpty)
        }
        _ = try await redis.write(Session("ee", device: device("watch")).says(.idle, 1))
        let back = try await record(redis)
        #expect(back.presence(past: [:]).version == back.version && back.version > before.version)
    }

    @Test(arguments: Party.allCases) func theySayNothingOfAUserNeverSeen(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.write(Session("aa").says(.background, 1))
        _ = try await redis.write(Session("bb", device: tablet).says(.background, 1))
        try await redis.wait(until: try await redis.time().advanced(by: .milliseconds(5)))
        let read = try await record(redis)
        let presence = read.presence(past: [:])
        #expect(read.devices.count == 2 && read.version > 0)
        #expect(presence.lastSeen == nil && presence.updatedAt == nil && presence.version == 0, "as without a record")
        let published = try await redis.published()
        guard case .presence(let change, _)? = published.first else {
            Issue.record("nothing is published")
            return
        }
        #expect(published.count == 1 && change.visible.updatedAt == nil, "a new record: Redis may have lost another")
        #expect(try await redis.keys()["presence:{alice}"]?.expires != nil)
    }

    @Test(arguments: Party.allCases) func aSweepOfThemMovesNothingThatIsShown(party: Party) async throws {
        let redis = try await party.open()
        let shown = try await offline(redis).presence(past: [:])
        let tablet = Session("bb", device: tablet)
        _ = try await redis.write(tablet.says(.background, 1))
        #expect(try await redis.sweep(tablet.name, of: w1, lastBeat: try await redis.time(), until: .never) == .swept)
        #expect(try await record(redis).presence(past: [:]) == shown)
    }

    /// Regression: observers who had seen the device in use went on to see it so, for a lease.
    @Test(arguments: Party.allCases) func whatRedisHasForgottenIsToldAgain(party: Party) async throws {
        let redis = try await party.open()
        let began = try await redis.write(Session("aa").says(.background, 1)).began
        _ = try await redis.published()
        // The session was active meanwhile; Redis returned with the state of before, and the worker begins anew.
        _ = try await redis.write(Session("aa", worker: w2, began: began).says(.background, 3))
        #expect(try await redis.published().count == 1)
        _ = try await redis.write(Session("aa", worker: w2, began: began).says(.background, 4))
        #expect(try await redis.published().isEmpty)
        // Or with an older session of the device.
        _ = try await redis.write(Session("bb", worker: w2, began: try await redis.time()).says(.background, 7))
        #expect(try await redis.published().contains { if case .presence = $0 { true } else { false } })
        // Or with a session before it, and the worker still waits for all to write again.
        var new = Session("cc", worker: w2).says(.background, 1)
        new.isAfterOutage = true
        _ = try await redis.write(new)
        #expect(try await redis.published().contains { if case .presence = $0 { true } else { false } })
    }

}
