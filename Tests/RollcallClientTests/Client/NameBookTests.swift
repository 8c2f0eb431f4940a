// The application's names for users, with many requests at once.

import NIOConcurrencyHelpers
import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct NameBookTests {
    /// Knows all users, and counts the requests.
    private final class Contacts: Sendable {
        /// A limit, so that a client with endless requests still ends its test.
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

    @Test("more names than the book keeps are requested once each while they are shown")
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

    /// Answers when the test says so.
    private final class SlowContacts: Sendable {
        private typealias Call = (id: SerialNumber, user: UserID, answer: CheckedContinuation<String?, Never>)

        private let obeysCancellation: Bool
        private let state = NIOLockedValueBox<(asked: [UserID: Int], calls: [Call])>(([:], []))

        init(obeyingCancellation: Bool) { obeysCancellation = obeyingCancellation }

        var calls: Int { state.withLockedValue { $0.calls.count } }

        func asked(_ user: UserID) -> Int { state.withLockedValue { $0.asked[user] ?? 0 } }

        func name(of user: UserID) async -> String? {
            let id = SerialNumber()
            return await withTaskCancellationHandler {
                await withCheckedContinuation { answer in
                    let isOver = state.withLockedValue {
                        $0.asked[user, default: 0] += 1
                        if obeysCancellation && Task.isCancelled { return true }
                        $0.calls.append((id, user, answer))
                        return false
                    }
                    if isOver { answer.resume(returning: nil) }
                }
            } onCancel: {
                if obeysCancellation { answer(nil) { $0.id == id } }
            }
        }

        /// Answers the first call for a user.
        func answer(_ name: String?, for user: UserID) { answer(name) { $0.user == user } }

        /// Answers all calls without a name.
        func end() { while calls > 0 { answer(nil) { _ in true } } }

        private func answer(_ name: String?, where isMeant: (Call) -> Bool) {
            let call = state.withLockedValue { state in
                state.calls.firstIndex(where: isMeant).map { state.calls.remove(at: $0) }
            }
            call?.answer.resume(returning: name)
        }
    }

    /// All pauses have their maximum length.
    private static let longestPauses = Jitter { .max }

    private func show(_ users: [UserID], in world: TestWorld) async {
        world.connection.send(
            .typing(.init(conversation: "c42", users: users.map { Typist(user: $0) }, count: users.count)))
        await world.settle()
    }

    private func keepShowing(_ users: [UserID], in world: TestWorld, forSeconds seconds: Int) async {
        for _ in 0..<seconds {
            await show(users, in: world)
            await world.advance(by: .seconds(1))
        }
        await show(users, in: world)
    }

    @Test(
        "names that never arrive delay no others, and are requested again while they are shown",
        arguments: [true, false])
    func late(obeyingCancellation: Bool) async throws {
        let contacts = SlowContacts(obeyingCancellation: obeyingCancellation)
        defer { contacts.end() }
        let world = TestWorld(isAppAwaited: false, jitter: Self.longestPauses)
        let client = try await world.connected {
            $0.names = { user in user == "bob" ? "Bob" : await contacts.name(of: user) }
        }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        let silent = (0..<8).map { try! UserID("u\($0)") }
        func expects(_ count: Int) async throws {
            try await eventually("each is asked for \(count) times") {
                silent.allSatisfy { contacts.asked($0) == count }
            }
        }
        await show(silent + ["bob"], in: world)
        try await expects(1)
        await keepShowing(silent + ["bob"], in: world, forSeconds: 9)
        #expect(await client.inspect { $0.names.name(of: "bob") } == nil)
        await world.advance(by: .seconds(1))
        try await eventually("Bob's name is known") {
            await client.inspect { $0.names.name(of: "bob") } == "Bob"
        }
        await show(silent + ["bob"], in: world)
        try await typing.latest("Bob's name") { typing in
            typing.typists.contains { $0.user == "bob" && $0.name == "Bob" }
        }
        try await expects(1)
        await world.advance(by: .seconds(1))
        try await expects(2)
        await show(["bob"], in: world)
        await world.advance(by: .seconds(20))
        try await expects(2)
        #expect(await client.inspect { !$0.names.isAsking && $0.names.count == 1 + silent.count })
        await show(silent, in: world)
        try await expects(3)
    }

    @Test("a name that does not arrive is requested with growing pauses, in at most two concurrent calls")
    func pauses() async throws {
        let contacts = SlowContacts(obeyingCancellation: true)
        defer { contacts.end() }
        let world = TestWorld(isAppAwaited: false, jitter: Self.longestPauses)
        let client = try await world.connected { $0.names = { await contacts.name(of: $0) } }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        // Requested at 0, 11, 23, 37 and 55 s: each call takes 10 s, and the pauses double from 1 s on.
        for (seconds, asked) in [(10, 1), (2, 2), (10, 2), (2, 3), (12, 3), (2, 4), (16, 4), (2, 5), (24, 5), (2, 6)] {
            await keepShowing(["ann"], in: world, forSeconds: seconds)
            try await eventually("Ann is asked for \(asked) times") { contacts.asked("ann") == asked }
            try await eventually("older calls are cancelled") { contacts.calls <= 2 }
        }
        #expect(typing.values.allSatisfy { $0.typists.allSatisfy { $0.name == nil } })
    }

    /// Each further call was one more task that stayed for good.
    @Test("calls that heed no cancellation and never return are three for each name, until one returns")
    func stuck() async throws {
        let contacts = SlowContacts(obeyingCancellation: false)
        defer { contacts.end() }
        let world = TestWorld(isAppAwaited: false, jitter: Self.longestPauses)
        let client = try await world.connected { $0.names = { await contacts.name(of: $0) } }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        await keepShowing(["ann"], in: world, forSeconds: 60)
        try await eventually("Ann is asked for as often as may be") { contacts.asked("ann") == 3 }
        await keepShowing(["ann"], in: world, forSeconds: 120)
        #expect(contacts.asked("ann") == 3 && contacts.calls == 3)
        contacts.answer(nil, for: "ann")
        try await eventually("there is room for one more") {
            await keepShowing(["ann"], in: world, forSeconds: 1)
            return contacts.asked("ann") == 4
        }
        contacts.answer("Ann", for: "ann")
        try await eventually("Ann's name is known") { await client.inspect { $0.names.name(of: "ann") } == "Ann" }
        await keepShowing(["ann"], in: world, forSeconds: 1)
        try await typing.latest("Ann's name") { $0.typists.first?.name == "Ann" }
    }

    @Test("stuck calls that return count again once their user, dropped meanwhile, is shown again")
    func stuckAndDropped() async throws {
        let contacts = SlowContacts(obeyingCancellation: false)
        defer { contacts.end() }
        let world = TestWorld(isAppAwaited: false, jitter: Self.longestPauses)
        let client = try await world.connected {
            $0.names = { user in user != "ann" ? "Dr \(user)" : await contacts.name(of: user) }
        }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        await keepShowing(["ann"], in: world, forSeconds: 60)
        try await eventually("all calls for Ann are stuck") { contacts.calls == 3 }
        for first in stride(from: 0, to: 6000, by: 100) {
            await show((first..<(first + 100)).map { try! UserID("user\($0)") }, in: world)
        }
        try await eventually("hidden users are dropped") {
            await client.inspect { $0.names.count } <= NameBook.capacity
        }
        await show(["ann"], in: world)
        #expect(contacts.asked("ann") == 3)
        contacts.answer(nil, for: "ann")
        try await eventually("Ann is asked for again") {
            await world.settle()
            return contacts.asked("ann") == 4
        }
        contacts.answer("Ann", for: "ann")
        try await eventually("Ann's name is known") { await client.inspect { $0.names.name(of: "ann") } == "Ann" }
        await keepShowing(["ann"], in: world, forSeconds: 1)
        try await typing.latest("Ann's name") { $0.typists.first?.name == "Ann" }
        #expect(contacts.asked("ann") == 4)
    }

    @Test(
        "a name is shown however late it arrives, and not requested again",
        arguments: [true, false], [Duration.milliseconds(10_500), .seconds(12)])
    func slow(obeyingCancellation: Bool, time: Duration) async throws {
        let contacts = SlowContacts(obeyingCancellation: obeyingCancellation)
        defer { contacts.end() }
        let world = TestWorld(isAppAwaited: false, jitter: Self.longestPauses)
        let client = try await world.connected { $0.names = { await contacts.name(of: $0) } }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        await show(["ann"], in: world)
        await world.advance(by: time - .seconds(1))
        await keepShowing(["ann"], in: world, forSeconds: 1)
        let asked = time < .seconds(11) ? 1 : 2
        try await eventually("Ann is asked for \(asked) times") { contacts.asked("ann") == asked }
        contacts.answer("Ann", for: "ann")
        try await eventually("Ann's name is known") { await client.inspect { $0.names.name(of: "ann") } == "Ann" }
        contacts.answer("Another", for: "ann")
        await keepShowing(["ann"], in: world, forSeconds: 30)
        try await typing.latest("Ann's name") { $0.typists.first?.name == "Ann" }
        #expect(contacts.asked("ann") == asked)
        #expect(await client.inspect { !$0.names.isAsking && $0.names.count == 1 })
    }

    @Test("names that do not arrive are dropped when nothing shows them any more")
    func lateForgotten() async throws {
        let contacts = SlowContacts(obeyingCancellation: true)
        defer { contacts.end() }
        let world = TestWorld(isAppAwaited: false)
        let client = try await world.connected { $0.names = { await contacts.name(of: $0) } }
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        for first in stride(from: 0, to: 6000, by: 100) {
            await show((first..<(first + 100)).map { try! UserID("user\($0)") }, in: world)
        }
        await world.advance(by: .seconds(11))
        #expect(await client.inspect { $0.names.count } <= NameBook.capacity)
        #expect(!typing.values.isEmpty)
    }

    @Test("names that nothing shows any more are dropped, and requested again when they are shown again")
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
