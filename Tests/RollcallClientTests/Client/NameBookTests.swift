// The app's names for people, many at once.

import NIOConcurrencyHelpers
import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct NameBookTests {
    /// Knows everybody, and counts who is asked for.
    private final class Contacts: Sendable {
        /// So that a client which asks without end ends its test all the same.
        private static let mostAsked = 20_000
        private let state = NIOLockedValueBox<(asked: Int, people: Set<UserID>)>((0, []))

        var asked: Int { state.withLockedValue { $0.asked } }
        var people: Int { state.withLockedValue { $0.people.count } }

        func name(of user: UserID) -> String? {
            state.withLockedValue {
                $0.asked += 1
                $0.people.insert(user)
                return $0.asked > Self.mostAsked ? nil : "Dr \(user)"
            }
        }
    }

    private let contacts = Contacts()

    @Test("more names than the book keeps are asked for once each while they are on show")
    func manyOnShow() async throws {
        let world = TestWorld { request, connection in
            if case .join(let conversation, presence: true) = request.message {
                let users = (0..<1500).map { try! UserID("\(conversation)-\($0)") }
                connection.send(
                    .members(.init(conversation: conversation, users: users.map { .init(user: $0) }, count: 1500)))
                connection.send(.presence(users.map { .of($0, .offline) }))
            }
            connection.behave(request)
        }
        let client = try await world.connected { [contacts] in $0.names = { contacts.name(of: $0) } }
        let groups = ["c1", "c2", "c3"].map { Collected(client.members(of: try! ConversationID($0))) }
        await world.advance(by: .seconds(2))
        for group in groups {
            try await group.latest("all names are shown") { members in
                members.people.count == 1500 && members.people.allSatisfy { $0.name == "Dr \($0.user)" }
            }
        }
        #expect(contacts.people == 4500)
        #expect(contacts.asked == 4500)
        #expect(groups.allSatisfy { $0.values.count < 500 }, "a name that comes does not show the whole list again")
    }

    @Test("names that never come keep no others waiting, and are asked for again while they are on show")
    func late() async throws {
        let asked = NIOLockedValueBox<[UserID: Int]>([:])
        let world = TestWorld(isAppAwaited: false)
        let client = try await world.connected {
            $0.names = { user in
                asked.withLockedValue { $0[user, default: 0] += 1 }
                if user != "bob" { try? await Task.sleep(for: .seconds(3600)) }
                return user == "bob" ? "Bob" : nil
            }
        }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        func show(_ users: [UserID]) async {
            world.connection.send(
                .typing(.init(conversation: "c42", users: users.map { Typist(user: $0) }, count: users.count)))
            await world.settle()
        }
        let silent = (0..<8).map { try! UserID("u\($0)") }
        func expects(_ count: Int) async throws {
            try await eventually("each is asked for \(count) times") {
                asked.withLockedValue { asked in silent.allSatisfy { asked[$0] == count } }
            }
        }
        for second in 0..<10 {
            await show(silent + ["bob"])
            await world.advance(by: .seconds(1))
            if second == 0 { try await expects(1) }
            if second == 8 { #expect(asked.withLockedValue { $0["bob"] } == nil) }
        }
        try await eventually("Bob's name is known") {
            await client.inspect { $0.names.name(of: "bob") } == "Bob"
        }
        await show(silent + ["bob"])
        try await typing.latest("Bob's name") { typing in
            typing.typists.contains { $0.user == "bob" && $0.name == "Bob" }
        }
        try await expects(2)
        await show(["bob"])
        await world.advance(by: .seconds(20))
        try await expects(2)
        #expect(await client.inspect { !$0.names.isAsking && $0.names.count == 1 })
    }

    @Test("names that nothing shows any more are forgotten, and asked for again when they are shown again")
    func forgotten() async throws {
        let world = TestWorld()
        let client = try await world.connected { [contacts] in $0.names = { contacts.name(of: $0) } }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        func show(_ typists: Range<Int>) async throws {
            let users = typists.map { Typist(user: try! UserID("user\($0)")) }
            world.connection.send(.typing(.init(conversation: "c42", users: users, count: users.count)))
            await world.settle()
            try await typing.latest("their names") { $0.typists.first?.name == "Dr user\(typists.lowerBound)" }
        }
        for first in stride(from: 0, to: 6000, by: 100) { try await show(first..<(first + 100)) }
        #expect(contacts.asked == 6000)
        #expect(await client.inspect { $0.names.count } <= NameBook.capacity)
        try await show(5990..<6000)
        #expect(contacts.asked == 6000)
        try await show(0..<10)
        #expect(contacts.asked == 6010)
    }
}
