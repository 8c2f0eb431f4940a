// What background devices leave of a record that observers are shown, told to a real Redis and to its twin.

import RedisTwin
import RollcallCore
import RollcallModel
import TestSupport
import Testing

@Suite(.serialized) struct ContractBackgroundStories {
    private func record(_ redis: any StoreContract) async throws -> PresenceRecord {
        try await redis.presence(of: [alice], known: KnownWorkers()).records[0]
    }

    /// Alice was active on her phone, and is gone.
    private func offline(_ redis: any StoreContract) async throws -> PresenceRecord {
        _ = try await redis.write(Session("aa").says(.active, 1))
        _ = try await redis.write(Session("aa").says(nil, 2))
        _ = try await redis.published()
        return try await record(redis)
    }

    @Test(arguments: Party.allCases) func theyMoveTheRecordAndNothingThatIsShown(party: Party) async throws {
        let redis = try await party.open()
        let before = try await offline(redis)
        let shown = before.presence(past: [:])
        #expect(before.shown == nil && shown.version == before.version)
        let writes = [
            Session("bb", device: tablet).says(.background, 1), Session("cc", device: tablet).says(.background, 1),
            Session("dd").says(.background, 1), Session("cc", device: tablet).says(nil, 2), Session("dd").says(nil, 2),
        ]
        var version = before.version
        for write in writes {
            #expect(try await redis.write(write).outcome == .written)
            let after = try await record(redis)
            #expect(after.version > version && after.presence(past: [:]) == shown)
            version = after.version
            guard case .presence(let change, _)? = try await redis.published().first else {
                Issue.record("nothing is published")
                return
            }
            #expect(change.presence.version == version && change.visible == shown)
        }
        _ = try await redis.write(Session("ee", device: device("watch")).says(.idle, 1))
        let back = try await record(redis)
        #expect(back.shown == nil && back.presence(past: [:]).version == back.version && back.version > version)
        #expect(try await redis.keys()["presence:{alice}"]?.content.contains { $0.hasPrefix("shown=") } == false)
    }

    @Test(arguments: Party.allCases) func theySayNothingOfAUserNeverSeen(party: Party) async throws {
        let redis = try await party.open()
        _ = try await redis.write(Session("aa").says(.background, 1))
        _ = try await redis.write(Session("bb", device: tablet).says(.background, 1))
        try await redis.wait(until: try await redis.time().advanced(by: .milliseconds(5)))
        let read = try await record(redis)
        let presence = read.presence(past: [:])
        let time = try await redis.time().milliseconds
        #expect(presence.version > read.version, "as if there were no record")
        #expect(
            presence.lastSeen == nil && presence.updatedAt == nil && (time - 1000..<time).contains(presence.version))
        let changes = try await redis.published().compactMap { published in
            if case .presence(let change, _) = published { change } else { nil }
        }
        #expect(changes.count == 2 && changes.allSatisfy { $0.visible.updatedAt == nil })
    }

    /// Regression: the write stored the last seen time as it was clamped to the clock, and so told observers of itself.
    @Test(.enabled(if: SettableClock.isAvailable), arguments: Party.allCases)
    func theyMoveNothingThatIsShownAfterTheClockWasSetBack(party: Party) async throws {
        let redis = try await party.open()
        let shown = try await offline(redis).presence(past: [:])
        try await redis.setClock(by: .seconds(-60))
        for write in [
            Session("bb", device: tablet).says(.background, 1), Session("bb", device: tablet).says(nil, 2),
        ] {
            #expect(try await redis.write(write).outcome == .written)
            #expect(try await record(redis).presence(past: [:]) == shown)
            guard case .presence(let change, _)? = try await redis.published().first else {
                Issue.record("nothing is published")
                return
            }
            #expect(change.visible == shown)
        }
    }

    @Test(arguments: Party.allCases) func aSweepOfThemMovesNothingThatIsShown(party: Party) async throws {
        let redis = try await party.open()
        let shown = try await offline(redis).presence(past: [:])
        let tablet = Session("bb", device: tablet)
        _ = try await redis.write(tablet.says(.background, 1))
        #expect(try await redis.sweep(tablet.name, of: w1, lastBeat: try await redis.time(), until: .never) == .swept)
        #expect(try await record(redis).presence(past: [:]) == shown)
    }

    /// It writes the record without the field.
    @Test(arguments: Party.allCases) func whatAnEarlierVersionWroteIsShown(party: Party) async throws {
        let redis = try await party.open()
        let time = try await redis.time()
        var planted = PresenceRecord(user: alice, devices: [:], lastSeen: time, updatedAt: time, version: 9)
        planted.shown = ShownChange(version: 5, at: time.advanced(by: .milliseconds(-1)), record: 7)
        try await redis.plant(planted)
        #expect(try await record(redis).presence(past: [:]).version == 9)
        _ = try await redis.write(Session("aa").says(.background, 1))
        let presence = try await record(redis).presence(past: [:])
        #expect(presence.version == 9 && presence.updatedAt == time)
    }

    @Test(arguments: Party.allCases) func theyKeepNobodysLastSeenLonger(party: Party) async throws {
        let redis = try await party.open()
        _ = try await offline(redis)
        let expires = try #require(try await redis.keys()["presence:{alice}"]?.expires)
        try await redis.wait(until: try await redis.time().advanced(by: .milliseconds(50)))
        _ = try await redis.write(Session("bb", device: tablet).says(.background, 1))
        #expect(abs(try #require(try await redis.keys()["presence:{alice}"]?.expires).since(expires).milliseconds) < 10)
    }
}
