// Changes of members: what is stored, whose typing ends, and what is published.

import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct StoreMembersTests {
    private let key = "members:{lounge}"
    private let typing = "typing:{lounge}"

    private func setMember(_ store: StoreUnderTest, _ user: UserID, _ name: String) async throws {
        try await store.call { $0.setMember(user, name: name, of: lounge, reply: $1) }
    }

    private func removeMember(_ store: StoreUnderTest, _ user: UserID) async throws {
        try await store.call { $0.removeMember(user, of: lounge, reply: $1) }
    }

    private func deleteMembers(_ store: StoreUnderTest) async throws {
        try await store.call { $0.deleteMembers(of: lounge, reply: $1) }
    }

    /// The users whose stops were published.
    private func stopped(_ subscriber: RawSubscriber) async throws -> [String] {
        try await subscriber.heard(on: typing).map { try decoded(TypingChange.self, $0) }
            .filter { !$0.typing }.map(\.user.text)
    }

    @Test func settingAllReplacesAll() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([alice: "Alice", bob: "Bob"])
        let subscriber = try await RawSubscriber(to: store)
        try await store.setMembers([bob: "Robert"])
        #expect(try await store.hash(key) == ["{managed}": "1", "bob": "Robert"])
        #expect(try await subscriber.heard() == [.init(channel: key, payload: #"{"reset":true}"#)])
    }

    @Test func settingAllEndsTheTypingOfEverybodyElse() async throws {
        let store = try await StoreUnderTest()
        for user in [alice, bob] {
            try await store.signal(user, phone)
            try await store.signal(user, tablet)
        }
        let subscriber = try await RawSubscriber(to: store)
        try await store.setMembers([bob: "Bob"])
        #expect(try await stopped(subscriber) == ["alice"])
        #expect(try await store.command("EXISTS", "\(typing):alice").integer == 0)
        #expect(try await store.command("GET", "\(typing):bob").string != nil)
        #expect(try await store.room().typists.map(\.user) == [bob])
    }

    @Test func settingOneIsPublishedToTheByte() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([bob: "Bob"])
        try await store.signal(bob)
        let subscriber = try await RawSubscriber(to: store)
        try await setMember(store, alice, #"Al "ice""#)
        #expect(
            try await subscriber.heard() == [
                .init(channel: key, payload: #"{"user":"alice","member":true,"name":"Al \"ice\"","count":2}"#)
            ])
        #expect(try await store.hash(key) == ["{managed}": "1", "bob": "Bob", "alice": #"Al "ice""#])
        #expect(try await store.room().typists.map(\.user) == [bob])
    }

    @Test func theFirstMemberClosesAnOpenConversation() async throws {
        let store = try await StoreUnderTest()
        try await store.signal(alice)
        try await store.signal(bob)
        let subscriber = try await RawSubscriber(to: store)
        try await setMember(store, bob, "Bob")
        #expect(
            try await subscriber.heard(on: key) == [
                #"{"reset":true}"#, #"{"user":"bob","member":true,"name":"Bob","count":1}"#,
            ])
        #expect(try await stopped(subscriber) == ["alice"])
        #expect(try await store.room(user: alice).isMember == false)
        #expect(try await store.room().typists.map(\.user) == [bob])
    }

    @Test func aRemovedMemberVanishesMidTyping() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([alice: "Alice", bob: "Bob"])
        try await store.signal(alice, phone)
        try await store.signal(alice, tablet)
        try await store.signal(bob)
        let subscriber = try await RawSubscriber(to: store)
        try await removeMember(store, alice)

        #expect(try await subscriber.heard(on: key) == [#"{"user":"alice","member":false,"count":1}"#])
        let ended = try await subscriber.heard(1, on: typing)
        let at = try decoded(TypingChange.self, ended[0]).at.milliseconds
        #expect(ended == [#"{"user":"alice","typing":false,"at":\#(at)}"#])
        #expect(try await store.command("EXISTS", "\(typing):alice").integer == 0)
        #expect(try await store.command("ZRANGE", typing, "0", "-1").array?.map(\.string) == ["bob phone"])
        #expect(try await store.room(user: alice).isMember == false)
    }

    @Test func theLastMemberLeavesAManagedConversation() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([alice: "Alice"])
        let subscriber = try await RawSubscriber(to: store)
        try await removeMember(store, alice)
        #expect(try await store.hash(key) == ["{managed}": "1"])
        #expect(try await store.room(user: alice).isMember == false)
        #expect(try await subscriber.heard(on: typing).isEmpty, "who did not type does not stop")
    }

    @Test func nobodyIsRemovedFromWhatIsNotManaged() async throws {
        let store = try await StoreUnderTest()
        try await store.signal(alice)
        let subscriber = try await RawSubscriber(to: store)
        try await removeMember(store, alice)
        #expect(try await subscriber.heard().isEmpty)
        #expect(try await store.room().typists.map(\.user) == [alice])
        #expect(try await store.room().isMember)
    }

    @Test func withTheManagementGoneTheDefaultDecides() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([bob: "Bob"])
        try await store.signal(bob)
        let subscriber = try await RawSubscriber(to: store)
        try await deleteMembers(store)
        #expect(try await subscriber.heard() == [.init(channel: key, payload: #"{"reset":true}"#)])
        #expect(try await store.room(user: alice).isMember)
        #expect(try await store.room().typists.map(\.user) == [bob])
    }

    @Test func withTheManagementGoneNobodyTypesWhereTheDefaultIsClosed() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(typingExpiry: .seconds(60), openByDefault: false))
        try await store.setMembers([bob: "Bob"])
        try await store.signal(bob)
        let subscriber = try await RawSubscriber(to: store)
        try await deleteMembers(store)
        #expect(try await stopped(subscriber) == ["bob"])
        #expect(try await store.command("EXISTS", typing, "\(typing):bob", key).integer == 0)
        #expect(try await store.room(user: bob).isMember == false)
    }

    @Test func ofAVeryLargeConversationSomeAreReadAndAllAreCounted() async throws {
        let store = try await StoreUnderTest()
        let members = Dictionary(uniqueKeysWithValues: try (0..<5000).map { (try UserID("user\($0)"), "Name \($0)") })
        try await store.setMembers(members)
        #expect(try await store.command("HLEN", key).integer == 5001)
        let some = try await store.room(mostMembers: 100)
        #expect((90...100).contains(some.members?.count ?? 0) && some.memberCount == 5000)
        #expect(some.members?.allSatisfy { members[$0.key] == $0.value } == true)
        let all = try await store.room(mostMembers: 5000)
        #expect(all.members == members && all.memberCount == 5000)
        try await store.setMembers([bob: "Bob"])
        #expect(try await store.hash(key) == ["{managed}": "1", "bob": "Bob"])
        #expect(try await store.room(mostMembers: 0).members == nil)
    }

    @Test func whatCanBeNobodysNameIsNotCountedWhereAllAreRead() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([bob: "Bob"])
        _ = try await store.command("HSET", key, "no {name}", "x")
        #expect(try await store.room(mostMembers: 10).memberCount == 1)
    }

    @Test func whatIsPublishedReadsAsAChangeOfMembers() async throws {
        let store = try await StoreUnderTest()
        let subscriber = try await RawSubscriber(to: store)
        try await setMember(store, alice, "Alice")
        try await removeMember(store, alice)
        let changes = try await subscriber.heard(on: key).map { try decoded(MemberChange.self, $0) }
        #expect(changes == [.reset, .member(alice, name: "Alice", count: 1), .removed(alice, count: 0)])
    }
}
