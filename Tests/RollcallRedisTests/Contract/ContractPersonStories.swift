// What people decide that others see, told to a real Redis and to its twin.

import RedisTwin
import RollcallCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis

@Suite(.serialized) struct ContractPersonStories {
    private static let eventful = TwinRedis.Settings(typingExpiry: .seconds(60), appendsEvents: true)

    private func change(_ redis: some Contract) async throws -> PersonChange? {
        let published = try await redis.published()
        guard case .person(let change)? = published.last, published.count == 1 else { return nil }
        return change
    }

    @Test("a setting is stored, published, told to the worker, and an event", arguments: Party.allCases)
    func settings(party: Party) async throws {
        let redis = try await party.open(Self.eventful)
        _ = try await redis.write(Session("aa").says(.active, 1))
        _ = try await redis.published()
        let until = try await redis.time().advanced(by: .seconds(3600))
        let written = try await redis.write(
            PersonWrite(
                of: alice,
                settings: [
                    .availability: "dnd", .text: "In a \"meeting\"", .until: ByteString("\(until.milliseconds)"),
                ]))
        let person = try #require(written.person)
        #expect(person.availability == .dnd && person.until == until && person.revision >= written.time.milliseconds)
        #expect(written.incarnations == [w1])
        let told = try #require(try await change(redis))
        #expect(told.person == person && told.block == nil)
        #expect(try await redis.person(of: alice) == person)
        #expect(try await redis.presence(of: [alice], known: KnownWorkers()).persons == [alice: person])
        #expect(
            try await redis.keys()["events"]?.content.last?.hasPrefix(
                "type person user alice revision \(person.revision) settings {\"availability\":\"dnd\",") == true)
        // The same again changes nothing, and names the workers again.
        let again = try await redis.write(PersonWrite(of: alice, settings: [.availability: "dnd"]))
        #expect(again.person == person && again.incarnations == [w1])
        #expect(try await redis.published().isEmpty)
        // Clearing what is not there makes no person.
        #expect(try await redis.write(PersonWrite(of: bob, .all, settings: [.text: nil])).person == nil)
        #expect(try await redis.person(of: bob) == nil)
    }

    @Test("blocks are told one by one, kept by settings, and at most a thousand", arguments: Party.allCases)
    func blocks(party: Party) async throws {
        let redis = try await party.open()
        let first = try #require(try await redis.write(PersonWrite(of: alice, blocks: [bob: true])).person)
        #expect(try await change(redis)?.block == .init(bob, isBlocked: true, was: 0))
        #expect(first.blocksRevision == first.revision && first.blocked[bob] != nil)
        let second = try #require(
            try await redis.write(PersonWrite(of: alice, .settings, settings: [.presence: "nobody"])).person)
        #expect(second.blocksRevision == first.revision && second.blocked == first.blocked)
        #expect(try await change(redis)?.block == nil)
        let many = Dictionary(uniqueKeysWithValues: (0..<1000).map { (user("u\($0)"), true) })
        let refused = try await redis.write(PersonWrite(of: alice, settings: [.presence: nil], blocks: many))
        #expect(refused.isTooMuch && refused.person == second)
        #expect(try await redis.published().isEmpty)
        let third = try #require(
            try await redis.write(PersonWrite(of: alice, blocks: many.merging([bob: false]) { $1 })).person)
        #expect(third.blocked.count == 1000 && third.presence == .nobody)
        #expect(try await change(redis)?.block == nil, "more than one")
        _ = try await redis.write(PersonWrite(of: alice, .all))
        #expect(try await redis.person(of: alice)?.blocked == [:])
    }

    @Test("the end of being hidden is noted, also if nobody ended it", arguments: Party.allCases)
    func unseen(party: Party) async throws {
        let redis = try await party.open()
        func set(_ settings: [Person.Field: ByteString?]) async throws -> Person? {
            try await redis.write(PersonWrite(of: alice, settings: settings)).person
        }
        #expect(try await set([.availability: "invisible"])?.unseen == nil)
        #expect(try await set([.presence: "nobody", .availability: nil])?.unseen == nil, "still hidden")
        let shown = try #require(try await set([.presence: "shared"]))
        #expect(shown.unseen.map { $0.milliseconds <= shown.revision } == true)
        let end = try await redis.time().advanced(by: .milliseconds(30))
        _ = try await set([.availability: "invisible", .until: ByteString("\(end.milliseconds)")])
        try await redis.wait(until: end.advanced(by: .milliseconds(10)))
        let later = try #require(try await set([.emoji: "x"]))
        #expect(later.unseen == end && later.availability == nil && later.until == nil && later.emoji == "x")
    }

    @Test(
        "what Redis has lost comes back with whoever knows it, under its revision, before it is changed",
        arguments: Party.allCases)
    func restored(party: Party) async throws {
        let redis = try await party.open(Self.eventful)
        let known = try #require(
            try await redis.write(PersonWrite(of: alice, settings: [.presence: "nobody"], blocks: [bob: true])).person)
        let older = try #require(try await redis.write(PersonWrite(of: bob, settings: [.presence: "nobody"])).person)
        try await redis.flush()
        _ = try await redis.published()
        #expect(try await redis.write(PersonWrite(of: alice, known: known)).person == known)
        #expect(try await change(redis)?.person.revision == known.revision)
        #expect(try await redis.keys()["events"] == nil, "nothing has changed")
        #expect(try await redis.write(PersonWrite(of: alice, known: known)).person == known)
        #expect(try await redis.published().isEmpty)
        let changed = try #require(
            try await redis.write(PersonWrite(of: bob, settings: [.text: "Hi"], known: older)).person)
        #expect(changed.presence == .nobody && changed.text == "Hi" && changed.revision > older.revision)
        // What is older than what is stored counts for nothing.
        #expect(try await redis.write(PersonWrite(of: bob, known: older)).person == changed)
    }

    @Test("no record is without its user's person", arguments: Party.allCases)
    func record(party: Party) async throws {
        let redis = try await party.open()
        let person = try #require(try await redis.write(PersonWrite(of: alice, settings: [.presence: "nobody"])).person)
        let written = try await redis.write(Session("aa").says(.active, 1))
        #expect(written.person == person.revision, "a new record takes it over")
        guard case .presence(let change, _)? = try await redis.published().last else {
            Issue.record("no presence")
            return
        }
        #expect(change.person == person.revision)
        // Redis has lost the person, and the worker knows it.
        try await redis.flush()
        var late = Session("aa").says(.active, 2)
        late.person = person.revision
        #expect(try await redis.write(late).person == person.revision)
        let lost = try await redis.presence(of: [alice], known: KnownWorkers())
        #expect(lost.records[0].person == person.revision && lost.persons == [alice: nil])
        // A device in the background that brings it says nothing else.
        try await redis.flush()
        _ = try await redis.write(Session("aa").says(.active, 3))
        _ = try await redis.published()
        var other = Session("bb", device: tablet).says(.background, 1)
        other.person = person.revision
        #expect(try await redis.write(other).person == person.revision)
        #expect(try await redis.published().isEmpty)
        #expect(try await redis.presence(of: [alice], known: KnownWorkers()).records[0].person == person.revision)
    }

    @Test("whoever would look never seen is read as one with a person", arguments: Party.allCases)
    func neverSeen(party: Party) async throws {
        let redis = try await party.open()
        let person = try #require(try await redis.write(PersonWrite(of: alice, settings: [.presence: "nobody"])).person)
        let carol = user("carol")
        _ = try await redis.write(Session("bb", user: bob).says(.background, 1))
        #expect(
            try await redis.presence(of: [alice, bob, carol], known: KnownWorkers()).persons
                == [alice: person, bob: nil, carol: nil])
        _ = try await redis.write(Session("bb", user: bob).says(.active, 2))
        #expect(try await redis.presence(of: [bob], known: KnownWorkers()).persons.isEmpty)
    }

    @Test("what other programs write hides, and stops no read")
    func foreign() async throws {
        let redis = try await StoreUnderTest()
        for fields in [
            ["presence", "everyone", "revision", "5"], ["presence", "nobody"], ["revision", "x"],
            ["availability", "", "revision", "7"], ["until", "soon", "revision", "7"],
        ] {
            try await redis.command("HSET", arguments: ["person:{alice}"] + fields)
            let read = try await redis.call { $0.presence(of: [alice], known: KnownWorkers(), reply: $1) }
            #expect(read.persons == [alice: nil] && read.unread.isEmpty, "\(fields)")
            try await redis.command("FLUSHALL")
        }
        try await redis.command(
            "HSET", arguments: ["person:{alice}", "revision", "5", "block:\u{0}", "1", "later", "x"])
        #expect(try await redis.call { $0.person(of: alice, reply: $1) } == Person(revision: 5))
        try await redis.command("FLUSHALL")
        try await redis.command("SET", arguments: ["person:{alice}", "x"])
        #expect(
            try await redis.call { $0.presence(of: [alice], known: KnownWorkers(), reply: $1) }.persons == [alice: nil])
    }
}
