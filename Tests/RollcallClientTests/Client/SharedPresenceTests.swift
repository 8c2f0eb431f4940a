// Presence where sessions see only those with whom they share a conversation.

import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite("Shared presence") struct SharedPresenceTests {
    /// A worker with this rule, whose conversations have bob as their only member.
    private static func world(_ right: WatchRight) -> TestWorld {
        TestWorld { request, connection in
            connection.behave(request, watch: right)
            if case .join(let conversation, presence: true, _) = request.message {
                connection.send(
                    .members(.init(conversation: conversation, users: [.init(user: "bob", name: nil)], count: 1)))
            }
        }
    }

    @Test(
        "the conversation is joined with presence, before the user is asked for, and as long as somebody is observed in it"
    )
    func joined() async throws {
        let world = Self.world(.only(["acme/*"]))
        let client = world.client()
        let one = Collected(client.presence(of: "bob", in: "c1"))
        let several = Collected(client.presence(of: ["bob"], in: "c2"))
        let rows = Collected(client.conversations(["c3": ["bob"]]))
        client.connect()
        try await one.latest("bob is known") { $0.user == "bob" }
        let connection = world.connection
        try await connection.hears(
            .join("c1", presence: true), .join("c2", presence: true), .join("c3", presence: true), .watch(["bob"]))
        #expect(await client.currentPresence(of: "bob", in: "c4") != nil)
        try await connection.hears(.join("c4", presence: true), .get(["bob"]), .leave("c4"))
        one.cancel()
        several.cancel()
        rows.cancel()
        try await connection.hears(.leave("c1"), .leave("c2"), .leave("c3"), .unwatch(["bob"]))
        let model = await MainActor.run { PresenceModel(of: "bob", in: "c5", from: client) }
        try await connection.hears(.join("c5", presence: true), .watch(["bob"]))
        withExtendedLifetime(model) {}
    }

    @Test("where everybody may be seen, nothing is joined for it")
    func everybody() async throws {
        let world = Self.world(.all)
        let client = try await world.connected()
        let presence = Collected(client.presence(of: "bob", in: "c1"))
        try await presence.latest("bob is known") { $0.user == "bob" }
        #expect(world.connection.count { if case .join = $0 { true } else { false } } == 0)
    }

    @Test("whom no rule covers is a problem, once; whoever is in a list, or named, is not")
    func notShared() async throws {
        let world = Self.world(.only(["acme/*"]))
        let client = try await world.connected()
        let problems = Collected(client.problems)
        let members = Collected(client.members(of: "c1"))
        let seen = ["bob", "alice", "acme/carol"].map { Collected(client.presence(of: $0)) }
        for each in seen { try await each.latest("each is known") { _ in true } }
        try await members.latest("bob is listed") { $0.people.map(\.user) == ["bob"] }
        #expect(problems.values.isEmpty)
        let hidden = ["dave", "erin"].map { Collected(client.presence(of: $0, in: "c1")) }
        try await problems.latest("the app is told") { $0.code == .notShared && $0.message.contains("dave") }
        for each in hidden { try await each.latest("each is known") { _ in true } }
        #expect(problems.values.count == 1)
    }
}
