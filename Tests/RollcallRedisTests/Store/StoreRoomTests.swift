// A conversation in one read, and the members that servers set.

import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct StoreRoomTests {
    @Test func aRoomNobodyEverManagedIsOpenOrClosedByDefault() async throws {
        let open = try await StoreUnderTest()
        #expect(try await open.room(mostMembers: 100).isMember)
        #expect(try await open.room(mostMembers: 100).members == nil)
        let closed = try await StoreUnderTest(settings: Store.Settings(openByDefault: false))
        #expect(try await closed.room(mostMembers: 100).isMember == false)
    }

    @Test func nobodyInParticularIsNoMember() async throws {
        let store = try await StoreUnderTest()
        #expect(try await store.room(user: nil).isMember == false)
    }

    @Test func membersAreWhoWasSetAndNobodyElse() async throws {
        let store = try await StoreUnderTest()
        let composed = user("caf\u{e9}")
        let decomposed = user("cafe\u{301}")
        try await store.setMembers([alice: "Alice", composed: "One", decomposed: ""])
        let room = try await store.room(user: bob, mostMembers: 100)
        #expect(room.isMember == false)
        #expect(room.members == [alice: "Alice", composed: "One", decomposed: ""])
        #expect(try await store.room(user: decomposed).isMember, "an empty name is a member's too")
        #expect(try await store.room(user: nil).isMember == false)
        #expect(try await store.room(user: alice).members == nil, "they were not asked for")
    }

    @Test func aConversationWithoutMembersIsManagedStill() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([:])
        #expect(try await store.room().isMember == false)
        let members: [UserID: String]? = try await store.call { $0.members(of: lounge, reply: $1) }
        #expect(members == [:])
    }

    @Test func typistsComeOnceEachByUserWithTheirLastEnd() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([alice: "Alice", bob: ""])
        let time = try await store.now()
        try await store.signal(bob, phone, until: time.advanced(by: .seconds(58)))
        try await store.signal(alice, phone, until: time.advanced(by: .seconds(56)))
        try await store.signal(alice, tablet, until: time.advanced(by: .seconds(50)))
        let room = try await store.room(user: alice)
        #expect(
            room.typists == [
                RoomSnapshot.Entry(user: alice, expiry: time.advanced(by: .seconds(56)), name: "Alice"),
                RoomSnapshot.Entry(user: bob, expiry: time.advanced(by: .seconds(58)), name: nil),
            ])
        #expect(room.time >= time)
        #expect(try await store.room(withTyping: false).typists.isEmpty)
    }

    @Test func whoIsPastTheirExpiryDoesNotCountAndStays() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ZADD", "typing:{lounge}", "1000", "alice phone")
        #expect(try await store.room().typists.isEmpty)
        #expect(try await store.command("ZCARD", "typing:{lounge}").integer == 1, "a read writes nothing")
    }

    @Test func thousandsOfTypistsAreReadWithTheirNames() async throws {
        let store = try await StoreUnderTest()
        let users = (0..<2500).map { user("u\($0)") }
        try await store.setMembers(Dictionary(uniqueKeysWithValues: users.map { ($0, "Name of \($0)") }))
        let far = "\(try await store.now().advanced(by: .seconds(60)).milliseconds)"
        for user in users { try await store.command("ZADD", "typing:{lounge}", far, "\(user) phone") }
        let room = try await store.room(mostMembers: 10_000)
        #expect(room.typists.map(\.user) == users.sorted())
        #expect(room.typists.allSatisfy { $0.name == "Name of \($0.user)" })
        #expect(room.members?.count == users.count)
    }
}
