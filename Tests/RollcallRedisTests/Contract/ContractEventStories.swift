// The stream of events, with a real Redis and with its twin.

import RedisTwin
import RollcallCore
import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct ContractEventStories {
    @Test(arguments: Party.allCases) func onlyComingAndGoingIsAppended(party: Party) async throws {
        let redis = try await party.open(.events)
        let written = try await redis.write(Session("aa").says(.active, 1))
        let session = Session("aa", began: written.began)
        #expect(try await redis.told() == ["reset", "online"], "who finds no stream begins it with a reset")
        for (sequence, state) in [DeviceState.idle, .active, .idle].enumerated() {
            _ = try await redis.write(session.says(state, Int64(sequence) + 2))
        }
        _ = try await redis.write(Session("bb", device: tablet).says(.active, 1))
        _ = try await redis.write(session.says(.background, 5))
        #expect(try await redis.told() == ["reset", "online"], "away, back, and a second device change nothing")
        _ = try await redis.write(session.says(.background, 5))
        _ = try await redis.write(session.says(.active, 4))
        _ = try await redis.write(Session("bb", device: tablet).says(nil, 2))
        #expect(try await redis.told() == ["reset", "online", "offline"])
        _ = try await redis.write(Session("cc").says(.background, 1))
        #expect(try await redis.told().count == 3, "who is in the background has not come")
        _ = try await redis.write(Session("cc").says(.idle, 2))
        #expect(try await redis.told().last == "away")
    }

    @Test(arguments: Party.allCases) func aSweepAppendsWhatItWrites(party: Party) async throws {
        let redis = try await party.open(.events)
        _ = try await redis.write(Session("aa").says(.active, 1))
        let aa = Session("aa").name
        #expect(try await redis.sweep(aa, of: w2, lastBeat: nil, until: .never) == .kept)
        #expect(try await redis.told() == ["reset", "online"])
        #expect(try await redis.sweep(aa, of: w1, lastBeat: nil, until: .never) == .swept)
        #expect(try await redis.told() == ["reset", "online", "offline"])
    }

    @Test(arguments: Party.allCases) func whoBeginsAloneResetsAndWhoJoinsDoesNot(party: Party) async throws {
        let redis = try await party.open(.events)
        let first = try await redis.heartbeat(.begin(w1), lease: .seconds(60))
        #expect(try await redis.told() == ["reset"] && first.reset == first.time.milliseconds)
        #expect(try await redis.heartbeat(.begin(w2), lease: .seconds(60)).reset == first.reset)
        #expect(try await redis.heartbeat(.renew(w1), lease: .seconds(60)).reset == 0)
        #expect(try await redis.told() == ["reset"])
        try await redis.flush()
        #expect(try await redis.heartbeat(.begin(w3), lease: .seconds(60)).reset != 0)
        #expect(try await redis.told() == ["reset"], "Redis has lost its data")
    }

    @Test(arguments: Party.allCases) func whoIsThereIsToldAgainOnceAfterAReset(party: Party) async throws {
        let redis = try await party.open(.events)
        var hello = Session("aa").says(.active, 1)
        hello.reset = 1
        let written = try await redis.write(hello)
        let session = Session("aa", worker: w2, began: written.began)
        for (sequence, reset) in [(2, 1), (3, 2), (4, 2)] as [(Int64, Int64)] {
            var write = session.says(.active, sequence)
            write.reset = reset
            _ = try await redis.write(write)
        }
        #expect(try await redis.told() == ["reset", "online", "online"])
    }

    @Test(arguments: Party.allCases) func withoutEventsNothingIsAppended(party: Party) async throws {
        let redis = try await party.open()
        #expect(try await redis.heartbeat(.begin(w1), lease: .seconds(60)).reset == 0)
        _ = try await redis.write(Session("aa").says(.active, 1))
        #expect(try await redis.keys().keys.sorted() == ["presence:{alice}", "{workers}", "{workers}:w1.aaaa"])
    }

    @Test("an erased user's entries go, but for the newest, which says that they are gone")
    func erased() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(keptEvents: 100_000))
        for number in 1...1100 {
            let session = Session("s\(number)", user: number % 2 == 0 ? alice : bob)
            try await store.write(session.says(.active, 1))
            if number > 2 { try await store.write(session.says(nil, 2)) }
        }
        let report = try await store.call { $0.report(on: alice, own: nil, reply: $1) }
        #expect(try await store.call { $0.erase(report, reply: $1) })
        let left = try await store.keys()["events"]?.content ?? []
        #expect(left.filter { $0.contains("user alice") }.map { $0.contains("offline") } == [true])
        #expect(left.count { $0.contains("user bob") } > 1000)
    }

    @Test("a foreign key under the name of the stream costs events, and nothing else")
    func foreign() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(keptEvents: 100_000))
        try await store.command("SET", "events", "something else")
        try await store.command("SET", "events:state", "something else")
        #expect(try await store.beat(.begin, w1).held)
        #expect(try await store.write(Session("aa").says(.active, 1)).outcome == .written)
        #expect(try await store.write(Session("aa").says(nil, 2)).outcome == .written)
        let report = try await store.call { $0.report(on: alice, own: w1, reply: $1) }
        #expect(try await store.call { $0.erase(report, reply: $1) })
    }
}

extension TwinRedis.Settings {
    static let events = TwinRedis.Settings(typingExpiry: .seconds(60), appendsEvents: true)
}

extension Contract {
    /// The status of each entry, or that it is a reset.
    fileprivate func told() async throws -> [String] {
        (try await keys()["events"]?.content ?? []).map { entry in
            let words = entry.split(separator: " ")
            return String(words[0] == "type" ? words[1] : words[3])
        }
    }
}
