// The members of a conversation and their presence.

import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct MembersTests {
    /// A worker that lists alice, bob and carol to sessions that join with presence, and then sends the presence of
    /// each.
    private static func world() -> TestWorld {
        TestWorld { request, connection in
            if case .join("c42", presence: true, _) = request.message {
                connection.send(.members("alice", "bob", "carol"))
                connection.send(.presence([.of("alice", .online), .of("bob", .away)]))
                connection.send(.presence([.of("carol", .online)]))
            }
            connection.behave(request)
        }
    }

    @Test("the members with their presence, complete from the first value on, and 2 of 3 online")
    func members() async throws {
        let world = Self.world()
        let client = try await world.connected()
        let members = Collected(client.members(of: "c42"))
        try await members.latest("all are known") { $0.people.count == 3 }
        let first = try #require(members.values.first)
        #expect(first.people.map(\.presence?.status) == [.online, .away, .online])
        #expect(first.groupCount.online == 2 && first.groupCount.total == 3)
        let connection = world.connection
        connection.send(.presence([.of("bob", .online)]))
        try await members.latest("bob is online") { $0["bob"]?.presence?.status == .online }
        var named = Presence.of("carol", .online)
        named.profile = Profile(name: "Carol")
        connection.send(.presence([named]))
        try await members.latest("where the list has no name, the sign-in's is shown") { $0["carol"]?.name == "Carol" }
        connection.send(.members("alice", "bob", "carol", "dave", count: 2001))
        try await members.latest("dave is listed, and unknown yet") { $0["dave"]?.presence == nil && $0.count == 2001 }
        connection.send(.members("bob"))
        try await members.latest("bob is left") { $0.people.map(\.user) == ["bob"] }
        #expect(await client.inspect { $0.people.presences.keys.sorted() } == ["bob"])
    }

    @Test("the members are requested with the join, or in addition to one, for as long as they are observed")
    func asking() async throws {
        let world = Self.world()
        let client = try await world.connected()
        let typing = Collected(client.typing(in: "c42"))
        let connection = world.connection
        try await connection.hears(.join("c42", presence: false))
        let members = Collected(client.members(of: "c42"))
        let more = Collected(client.members(of: "c42"))
        for observer in [members, more] { try await observer.latest("all are known") { $0.people.count == 3 } }
        members.cancel()
        more.cancel()
        try await connection.hears(
            .join("c42", presence: false), .join("c42", presence: true), .join("c42", presence: false))
        #expect(await client.inspect { $0.people.presences.isEmpty })
        typing.cancel()
        try await connection.hears(.leave("c42"))
        let alone = Collected(client.members(of: "c42"))
        try await connection.hears(.leave("c42"), .join("c42", presence: true))
        try await alone.latest("all are known") { $0.people.count == 3 }
        #expect(connection.count { if case .join = $0 { true } else { false } } == 4)
    }

    @Test("members who were also observed individually are not watched any longer than that")
    func watchedMembers() async throws {
        let limits = ServerMessage.Limits(
            watchedUsers: 2, joinedConversations: 9, messageBytes: 65_536, messageRate: 500, messageBurst: 500)
        let world = TestWorld { request, connection in
            if case .join("c42", presence: true, _) = request.message {
                connection.send(.members("bob", "carol"))
                connection.send(.presence([.of("bob", .online), .of("carol", .online)]))
            }
            connection.behave(request, limits: limits)
        }
        let client = try await world.connected()
        let members = Collected(client.members(of: "c42"))
        let rows = ["bob", "carol"].map { Collected(client.presence(of: $0)) }
        await world.settle()
        for row in rows { row.cancel() }
        try await eventually("they end") { rows.allSatisfy(\.hasEnded) }
        await world.settle()
        let unwatched = world.connection.messages.flatMap { message -> [UserID] in
            if case .unwatch(let users) = message { users } else { [] }
        }
        #expect(unwatched.sorted() == ["bob", "carol"])
        world.connection.send(.presence([.of("bob", .away, version: 2)]))
        await world.settle()
        try await members.latest("they are still shown") { $0["bob"]?.presence?.status == .away }
        let dave = Collected(client.presence(of: "dave"))
        await world.settle()
        try await dave.latest("there is room for others") { $0.status == .offline }
        let bob = Collected(client.presence(of: "bob"))
        await world.settle()
        #expect(world.connection.messages.last == .watch(["bob"]))
        withExtendedLifetime(bob) {}
    }

    @Test("after a reconnect the members are requested again, and the old ones stay until then")
    func reconnect() async throws {
        let world = Self.world()
        let client = try await world.connected()
        let members = Collected(client.members(of: "c42"))
        try await members.latest("all are known") { $0.people.count == 3 }
        let before = members.values.count
        world.connection.drop()
        await world.advance(by: .seconds(2))
        #expect(world.connections[1].messages.contains(.join("c42", presence: true)))
        world.connection.send(.presence([.of("carol", .offline, version: 2)]))
        try await members.latest("carol has gone") { $0["carol"]?.presence?.status == .offline }
        #expect(members.values.count == before + 1, "nothing else changed")
    }

    @Test("a user who is removed or was never admitted sees no members, and the reason")
    func refused() async throws {
        let world = Self.world()
        let client = try await world.connected()
        let members = Collected(client.members(of: "c42"))
        try await members.latest("all are known") { $0.people.count == 3 }
        world.connection.send(.removed("c42"))
        try await members.latest("nobody is shown") { $0.people.isEmpty && $0.refusal?.code == .notAMember }
        #expect(await client.inspect { $0.people.presences.isEmpty })
    }

    @Test("the application's names take precedence over the members' names")
    func names() async throws {
        let client = try await Self.world().connected { $0.names = { $0 == "bob" ? "Bobby" : nil } }
        let members = Collected(client.members(of: "c42"))
        try await members.latest("the name has come") { $0["bob"]?.name == "Bobby" && $0["carol"]?.name == "Carol" }
    }

    @Test("a name that changes to another Unicode form of the same letters is shown in that form")
    func unicodeForms() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let members = Collected(client.members(of: "c42"))
        await world.settle()
        for name in ["Zo\u{EB}", "Zoe\u{308}"] {
            world.connection.send(
                .members(.init(conversation: "c42", users: [.init(user: "zoe", name: ByteString(name))], count: 1)))
            world.connection.send(.presence([.of("zoe", .online)]))
            await world.settle()
            try await members.latest("the new form is shown") {
                $0["zoe"]?.name.map { $0.utf8.elementsEqual(name.utf8) } ?? false
            }
        }
    }

    @Test("members opened and closed leave nothing")
    func leaks() async throws {
        let world = Self.world()
        let client = try await world.connected()
        for _ in 0..<1000 {
            let members = Collected(client.members(of: "c42"))
            members.cancel()
        }
        try await eventually("nothing is left") {
            await client.inspect { $0.holdings.isEmpty }
        }
    }
}

extension ServerMessage {
    fileprivate static func members(_ users: UserID..., count: Int? = nil) -> Self {
        members(
            Members(
                conversation: "c42", users: users.map { .init(user: $0, name: $0 == "carol" ? "Carol" : nil) },
                count: count ?? users.count))
    }
}
