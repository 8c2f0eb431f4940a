// Typing signals and stops: who types, until when, and what is published.

import RollcallModel
import RollcallRedis
import Testing

@Suite(.serialized) struct StoreTypingTests {
    private let set = "typing:{lounge}"
    private let string = "typing:{lounge}:alice"

    private func score(_ store: StoreUnderTest, _ member: String) async throws -> Timestamp? {
        try await store.command("ZSCORE", set, member).integer.map(Timestamp.init(milliseconds:))
    }

    @Test func noSignalLastsLongerThanTheExpiryOfTyping() async throws {
        let store = try await StoreUnderTest()
        let before = try await store.now()
        try await store.signal(alice, until: .never)
        let after = try await store.now()
        let stored = try #require(try await score(store, "alice phone"))
        #expect(stored >= before.advanced(by: .seconds(60)) && stored <= after.advanced(by: .seconds(60)))
        #expect(try await store.timeToLive(string) <= 60_000)
    }

    @Test func whatIsPastIsLetGo() async throws {
        let store = try await StoreUnderTest()
        try await store.command("ZADD", set, "1000", "bob phone", "1000", "alice tablet")
        try await store.command("SET", string, "tablet")
        try await store.signal(alice)
        #expect(try await store.command("ZRANGE", set, "0", "-1").array?.map(\.string) == ["alice phone"])
        #expect(try await store.command("GET", string).string == "phone")
    }

    @Test func startsRenewalsAndStopsArePublishedToTheByte() async throws {
        let store = try await StoreUnderTest()
        let subscriber = try await RawSubscriber(to: store)
        try await store.signal(alice)
        let expiry = try #require(try await score(store, "alice phone")).milliseconds
        try await store.stop(alice)
        try await store.stop(alice)

        let heard = try await subscriber.heard(3, on: set)
        #expect(heard[0] == #"{"user":"alice","typing":true,"expires_in":60000,"at":\#(expiry - 60_000)}"#)
        let ends = try heard.dropFirst().map { try decoded(TypingChange.self, $0).at.milliseconds }
        #expect(heard[1] == #"{"user":"alice","typing":false,"at":\#(ends[0])}"#)
        #expect(heard[2] == #"{"user":"alice","typing":false,"at":\#(ends[1])}"#, "it follows Redis's own expiry")
    }

    @Test func onlyMembersType() async throws {
        let store = try await StoreUnderTest()
        try await store.setMembers([bob: "Bob"])
        let subscriber = try await RawSubscriber(to: store)
        #expect(try await store.signal(alice) == .notAMember)
        #expect(try await subscriber.heard().isEmpty)
        #expect(try await store.signal(bob) == .typing)
        #expect(try await store.command("ZRANGE", set, "0", "-1").array?.map(\.string) == ["bob phone"])
    }

    @Test func nobodyIsAMemberOfAConversationThatIsClosedByDefault() async throws {
        let store = try await StoreUnderTest(settings: Store.Settings(typingExpiry: .seconds(60), openByDefault: false))
        #expect(try await store.signal(alice) == .notAMember)
        try await store.setMembers([alice: "Alice"])
        #expect(try await store.signal(alice) == .typing)
    }

    @Test func aStopMayFollowItsStartInOnePipeline() async throws {
        let store = try await StoreUnderTest()
        let expiry = try await store.now().advanced(by: .seconds(60))
        let signal = TypingSignal(user: alice, device: phone, conversation: lounge, expiry: expiry)
        let outcome: TypingStopOutcome = try await store.call { store, reply in
            store.signalTyping(signal) { _ in }
            store.stopTyping(signal, reply: reply)
        }
        #expect(outcome == .stopped)
        #expect(try await store.command("EXISTS", set, string).integer == 0)
    }
}
