// Who was let in by an app's server, with a real Redis and with its twin.

import RedisTwin
import RollcallProtocol
import RollcallRedis
import Testing

@Suite(.serialized) struct ContractAccessStories {
    private func write(
        _ user: UserID, _ answer: AccessAnswer, after asked: Duration = .zero, in redis: some Contract
    ) async throws -> AccessWritten {
        let sent = try await redis.time().advanced(by: asked)
        return try await redis.write(AccessWrite(AccessQuestion(user: user, conversation: lounge), answer, sent: sent))
    }

    private func record(of user: UserID, in redis: some Contract) async throws -> AccessRecord? {
        try await redis.room(lounge, users: [user, bob], withTyping: false, mostMembers: 0).access[user]
    }

    @Test("an admission is kept until its end, with the people", arguments: Party.allCases)
    func admission(party: Party) async throws {
        let redis = try await party.open()
        #expect(try await record(of: alice, in: redis) == AccessRecord())
        let answer = AccessAnswer.allow(for: .seconds(3600), people: [alice, bob])
        let until = try await write(alice, answer, in: redis).time.advanced(by: .seconds(3600))
        #expect(try await record(of: alice, in: redis) == AccessRecord(until: until))
        #expect(try await redis.room(lounge, users: [], withTyping: false, mostMembers: 9).people == [alice, bob])
        #expect(try await redis.published() == [.members(.people, of: lounge)])
        let expires = try #require(try await redis.keys()["access:{lounge}"]?.expires)
        #expect(expires > until)
        _ = try await write(bob, .allow(for: .milliseconds(1), people: nil), in: redis)
        try await redis.wait(until: try await redis.time().advanced(by: .milliseconds(5)))
        #expect(try await record(of: bob, in: redis) == AccessRecord())
        #expect(try await redis.published() == [], "the people stayed as they were")
    }

    @Test("a drop ends what was answered, and what is asked less than a second later", arguments: Party.allCases)
    func drops(party: Party) async throws {
        let redis = try await party.open()
        let allow = AccessAnswer.allow(for: .seconds(60), people: [alice, bob])
        _ = try await write(alice, allow, in: redis)
        _ = try await write(bob, allow, in: redis)
        _ = try await redis.published()
        try await redis.dropAccess(of: alice, to: lounge)
        #expect(
            try await redis.published() == [.members(.people, of: lounge), .members(.ask(alice), of: lounge)])
        let dropped = try #require(try await record(of: alice, in: redis))
        #expect(dropped.until == nil && dropped.dropped != nil)
        #expect(try await record(of: bob, in: redis)?.until != nil)
        for answer in [allow, .deny(for: .seconds(5))] {
            let written = try await write(alice, answer, after: .milliseconds(100), in: redis)
            #expect(written.dropped == dropped.dropped, "\(answer)")
        }
        #expect(try await write(alice, allow, after: .seconds(2), in: redis).dropped == nil)
        try await redis.dropAccess(of: nil, to: lounge)
        #expect(try await redis.published().last == .members(.ask(nil), of: lounge))
        #expect(try await record(of: bob, in: redis)?.until == nil)
        #expect(try await write(bob, allow, in: redis).dropped != nil, "a drop of all is one of each")
    }

    @Test("a denial takes out whom another worker let in, and is nothing where nobody was", arguments: Party.allCases)
    func denials(party: Party) async throws {
        let redis = try await party.open()
        _ = try await write(alice, .deny(for: .seconds(5)), in: redis)
        #expect(try await redis.keys().isEmpty)
        #expect(try await redis.published() == [])
        _ = try await write(alice, .allow(for: .seconds(60), people: [alice]), in: redis)
        _ = try await redis.published()
        _ = try await write(alice, .deny(for: .seconds(5)), in: redis)
        #expect(
            try await redis.published() == [.members(.people, of: lounge), .members(.ask(alice), of: lounge)])
        #expect(try await record(of: alice, in: redis) == AccessRecord())
    }

    @Test("what other programs write lets nobody in, and stops no read")
    func foreign() async throws {
        let redis = try await StoreUnderTest(settings: Store.Settings(readsAccess: true))
        for (command, isAdmitted) in [
            (["ZADD", "access:{lounge}", "inf", "alice"], false), (["ZADD", "access:{lounge}", "-5", "alice"], false),
            (["ZADD", "access:{lounge}", "9e15", "alice"], false), (["SET", "access:{lounge}", "alice"], false),
            (["LPUSH", "access:{lounge}:people", "alice"], false),
        ] {
            try await redis.command(command[0], arguments: Array(command.dropFirst()))
            let snapshot = try await redis.call {
                $0.room(lounge, users: [alice], withTyping: false, mostMembers: 9, reply: $1)
            }
            #expect((snapshot.access[alice]?.until != nil) == isAdmitted)
            try await redis.command("FLUSHALL")
        }
    }
}
