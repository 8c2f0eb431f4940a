// The app's names for users.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct NamesTests {
    private let asked = NIOLockedValueBox<[UserID: Int]>([:])
    private let contacts = NIOLockedValueBox<[UserID: String]>([:])

    /// Each conversation has 300 members, who are all offline.
    private let world = TestWorld { request, connection in
        if case .join(let conversation, presence: true, _) = request.message {
            let users = (0..<300).map { try! UserID("\(conversation)-\($0)") }
            connection.send(
                .members(.init(conversation: conversation, users: users.map { .init(user: $0) }, count: 300)))
            connection.send(.presence(users.map { .of($0, .offline) }))
        }
        connection.behave(request)
    }

    private func client() async throws -> RollcallClient {
        try await world.connected { [asked, contacts] in
            $0.names = { user in
                asked.withLockedValue { $0[user, default: 0] += 1 }
                return contacts.withLockedValue { $0[user] }
            }
        }
    }

    @Test("more names than are kept are asked for once each while they are shown")
    func many() async throws {
        let groups = (0..<15).map { try! ConversationID("c\($0)") }
        contacts.withLockedValue {
            for group in groups { for number in 0..<300 { $0[try! UserID("\(group)-\(number)")] = "Dr \(number)" } }
        }
        let client = try await client()
        let shown = groups.map { Collected(client.members(of: $0)) }
        await world.advance(by: .seconds(2))
        for group in shown {
            try await group.latest("all names are shown") {
                $0.people.count == 300 && $0.people.allSatisfy { $0.name != nil }
            }
        }
        #expect(asked.withLockedValue { $0.count == 4500 && $0.values.allSatisfy { $0 == 1 } })
    }

    @Test("an app that comes to know other names is asked for all again, and only when it says so")
    func changed() async throws {
        let client = try await client()
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        contacts.withLockedValue { $0["bob"] = "Bob" }
        func type() async {
            world.connection.send(
                .typing(.init(conversation: "c42", users: [.init(user: "bob"), .init(user: "carol")], count: 2)))
            await world.settle()
        }
        await type()
        try await typing.latest("one is known") { $0.typists.map(\.name) == ["Bob", nil] }
        contacts.withLockedValue { ($0["carol"], $0["bob"]) = ("Carol", "Robert") }
        await type()
        #expect(asked.withLockedValue { $0 } == ["bob": 1, "carol": 1])
        client.namesChanged()
        await world.settle()
        try await typing.latest("both are known") { $0.typists.map(\.name) == ["Robert", "Carol"] }
        #expect(asked.withLockedValue { $0 } == ["bob": 2, "carol": 2])
    }
}
