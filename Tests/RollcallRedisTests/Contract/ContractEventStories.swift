// The stream of events, with a real Redis and with its twin.

import RedisTwin
import RollcallCore
import RollcallProtocol
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

    @Test(arguments: Party.allCases) func aReaderGetsWhatIsBehindItsCursorAndAResetOutsideOfTheStream(
        party: Party
    ) async throws {
        let redis = try await party.open(.events)
        #expect(try await redis.read(after: .start) == [], "there is no stream yet")
        #expect(try await redis.read(after: EventID(milliseconds: 5, number: 0)) == ["reset"])
        let written = try await redis.write(Session("aa").says(.active, 1))
        _ = try await redis.write(Session("aa", began: written.began).says(.background, 2))
        #expect(try await redis.read(after: .start) == ["reset", "online", "offline"])
        let first = try await redis.events(after: .start, limit: 1)
        #expect(first.events.count == 1 && first.next == first.events[0].id)
        #expect(try await redis.read(after: first.next) == ["online", "offline"])
        let end = try await redis.events(after: .start).next
        #expect(try await redis.read(after: end) == [])
        for cursor in [EventID(milliseconds: 5, number: 0), EventID(milliseconds: .max, number: .max)] {
            #expect(try await redis.read(after: cursor) == ["reset", "reset", "online", "offline"], "after \(cursor)")
        }
    }

    @Test("entries of later versions and foreign ones are passed over, and the cursor goes on")
    func laterEntries() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(keptEvents: 100_000))
        try await store.command("XADD", "events", "7-1", "type", "party", "at", "5")
        try await store.command(
            "XADD", "events", "7-2", "user", "alice", "status", "dancing", "version", "1", "at", "5")
        try await store.command(
            "XADD", "events", "7-3", "user", "alice", "status", "away", "version", "1", "at", "5", "x", "y")
        try await store.command("XADD", "events", "7-4", "anything", "else")
        let page = try await store.call { $0.events(after: .start, limit: 100, reply: $1) }
        #expect(page.events.map(\.id) == [EventID(milliseconds: 7, number: 3)])
        #expect(page.next == EventID(milliseconds: 7, number: 4))
    }

    @Test("one worker delivers at a time; who takes over goes on where the last one was")
    func claims() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(keptEvents: 100_000))
        func claimed(
            _ who: String, _ duration: Duration = .seconds(60), _ delivered: EventID? = nil, isOffered: Bool = false,
            notes: String? = nil
        ) async throws -> DeliveryClaim? {
            try await store.call {
                $0.claimDelivery(
                    by: who, for: duration, delivered: delivered, isOffered: isOffered, notes: notes, reply: $1)
            }
        }
        func claim(_ who: String, _ duration: Duration = .seconds(60), _ delivered: EventID? = nil) async throws
            -> EventID?
        {
            try await claimed(who, duration, delivered)?.position
        }
        let (first, second) = (EventID(milliseconds: 7, number: 1), EventID(milliseconds: 7, number: 2))
        #expect(try await claim("w1") == .start)
        #expect(try await claim("w2", .seconds(60), first) == nil)
        #expect(try await claim("w1", .seconds(60), first) == first)
        #expect(try await claim("w1", .zero) == first, "it gives the claim back")
        try await Task.sleep(for: .milliseconds(5))
        #expect(try await claim("w2", .seconds(60), second) == first, "what it delivered under no claim does not count")
        #expect(try await claim("w2", .milliseconds(1), second) == second)
        try await Task.sleep(for: .milliseconds(5))
        #expect(try await claim("w1") == second)
        try await store.command("HSET", "events:state", "claimed_at", "99999999999999")
        #expect(try await claim("w2") == second, "a claim from the future is that of a clock that was set back")
        // What the deliverer notes stays for the next one, and one that offers its claim loses it to whoever asks.
        #expect(try await claimed("w2", notes: "it failed")?.notes == "it failed")
        #expect(try await claimed("w1", notes: "not its own") == nil)
        #expect(try await claimed("w2", isOffered: true)?.notes == "it failed")
        #expect(try await claimed("w1")?.notes == "it failed")
        #expect(try await claimed("w2") == nil, "the offer is over")
    }

    @Test("a reset ends the time in which a worker appended no events, and that in which Redis refused to")
    func endsOfGaps() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(keptEvents: 100_000))
        let silent = try await StoreUnderTest(on: store, settings: Store.Settings())
        func resets() async throws -> Int {
            try await store.keys()["events"]?.content.count { $0.contains("reset") } ?? 0
        }
        #expect(try await silent.beat(.begin, w2, lease: .milliseconds(300)).held)
        #expect(try await store.beat(.begin, w1).held)
        #expect(try await store.beat(.renew, w1).held)
        #expect(try await resets() == 1, "while it lives, once")
        try await Task.sleep(for: .milliseconds(310))
        for _ in 0..<2 { #expect(try await store.beat(.renew, w1).held) }
        #expect(try await resets() == 2, "once more when none is left that appends none")
        try await store.command("RENAME", "events", "else")
        try await store.command("SET", "events", "foreign")
        #expect(try await store.write(Session("aa").says(.active, 1)).outcome == .written)
        for _ in 0..<2 { #expect(try await store.beat(.renew, w1).eventsRefused?.string.contains("WRONGTYPE") == true) }
        try await store.command("RENAME", "else", "events")
        for _ in 0..<2 { #expect(try await store.beat(.renew, w1).eventsRefused == nil) }
        #expect(try await resets() == 3)
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
        for user in [alice, bob] {
            var session = Session("s", user: user)
            for number in 1...1100 as ClosedRange<Int64> {
                let written = try await store.write(session.says(number % 2 == 0 ? .background : .active, number))
                session.began = session.began ?? written.time
            }
        }
        _ = try await store.call { $0.write(PersonWrite(of: alice, settings: [.text: "secret"]), reply: $1) }
        let report = try await store.call { $0.report(on: alice, own: nil, reply: $1) }
        #expect(try await store.call { $0.erase(report, reply: $1) })
        #expect(try await store.dump().filter { "\($0)".contains("secret") }.isEmpty)
        let left = try await store.keys()["events"]?.content ?? []
        #expect(left.filter { $0.contains("user alice") }.map { $0.contains("offline") } == [true])
        #expect(left.count { $0.contains("user bob") } == 1100)
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
    fileprivate func events(after cursor: EventID, limit: Int = 100) async throws -> EventsPage {
        try await call("events after \(cursor)") {
            $0.events(after: cursor, limit: limit, reply: $1)
        } twin: {
            $0.events(after: cursor, limit: limit)
        }
    }

    /// The same in words.
    fileprivate func read(after cursor: EventID) async throws -> [String] {
        try await events(after: cursor).events.map {
            if case .status(let presence) = $0.content { presence.status.rawValue } else { "reset" }
        }
    }

    /// The status of each entry, or that it is a reset.
    fileprivate func told() async throws -> [String] {
        (try await keys()["events"]?.content ?? []).map { entry in
            let words = entry.split(separator: " ")
            return String(words[0] == "type" ? words[1] : words[3])
        }
    }
}
