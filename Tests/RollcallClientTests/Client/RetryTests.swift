// What a client does about refusals with `retry: true`, and what its application sees of them.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct RetryTests {
    /// Refuses requests while the test says so, and counts them.
    private final class Refuser: Sendable {
        private let state = NIOLockedValueBox<(code: MessageError.Code?, refused: Int)>((nil, 0))

        var refused: Int { state.withLockedValue { $0.refused } }

        func refuse(_ code: MessageError.Code?) { state.withLockedValue { $0.code = code } }

        func take(_ request: ClientRequest, _ connection: TestWorld.Connection) {
            let code: MessageError.Code? = state.withLockedValue {
                if $0.code != nil, request.id != nil { $0.refused += 1 }
                return $0.code
            }
            guard let code, let id = request.id else { return connection.behave(request) }
            connection.send(.error(MessageError(code: code, id: id, message: "later")))
        }
    }

    private let refuser = Refuser()
    private let world: TestWorld

    init() {
        world = TestWorld { [refuser] in refuser.take($0, $1) }
    }

    @Test("watches and joins that are refused temporarily are repeated until they succeed, and views show no refusal")
    func untilTheyWork() async throws {
        refuser.refuse(.unavailable)
        let client = try await world.connected()
        let problems = Collected(client.problems)
        let users = (0..<101).map { try! UserID("user\($0)") }
        var observers: [Collected<Presence>] = []
        for user in users {
            observers.append(Collected(client.presence(of: user)))
            await world.settle()
        }
        let typing = Collected(client.typing(in: "c1"))
        let members = Collected(client.members(of: "c2"))
        await world.advance(by: .seconds(60))
        #expect(typing.values.allSatisfy { $0.refusal == nil } && members.values.allSatisfy { $0.refusal == nil })
        #expect(observers.allSatisfy { $0.values.isEmpty })
        let asked = refuser.refused
        refuser.refuse(nil)
        await world.advance(by: .seconds(16))
        for observer in observers { try await observer.latest("everybody is known") { $0.status == .offline } }
        try await typing.latest("nobody types") { $0.isEmpty && $0.refusal == nil }
        try await eventually("both are joined") {
            world.connection.messages.contains(.join("c1", presence: false))
                && world.connection.messages.contains(.join("c2", presence: true))
        }
        #expect(world.connections.count == 1)
        #expect(problems.values.isEmpty)
        // 101 watches and two joins, then three messages per attempt. In the first four seconds, the pauses are shorter
        // than four seconds.
        #expect(asked > 103 + 3 * 4, "it goes on trying")
        #expect(asked < 103 + 3 * 60, "and does so with patience")
        #expect(refuser.refused == asked)
    }

    /// Regression: a conversation opened before its members were set stayed refused until the next reconnect.
    @Test("a refused conversation is joined again, rarely, and shown once the user is a member, also after a removal")
    func notAMember() async throws {
        let isMember = NIOLockedValueBox(false)
        let world = TestWorld { request, connection in
            guard case .join(let conversation, let presence, _) = request.message else {
                return connection.behave(request)
            }
            guard isMember.withLockedValue({ $0 }) else {
                return connection.send(.error(MessageError(code: .notAMember, id: request.id, message: "members only")))
            }
            if presence {
                connection.send(
                    .members(.init(conversation: conversation, users: [.init(user: "alice")], count: 1)))
                connection.send(.presence([.of("alice", .online)]))
            }
            connection.behave(request)
        }
        let client = try await world.connected()
        let typing = Collected(client.typing(in: "c42"))
        let members = Collected(client.members(of: "c42"))
        await world.advance(by: .seconds(600))
        let joins = world.connection.count(\.isJoin)
        // Two from the observers, then pauses from 2 s to 60 s.
        #expect(joins > 10 && joins < 60, "\(joins) joins in ten minutes")
        try await typing.latest("it is refused") { $0.refusal?.message == "members only" }
        #expect(typing.values.count == 1 && members.values.allSatisfy { $0.refusal != nil })
        isMember.withLockedValue { $0 = true }
        await world.advance(by: .seconds(60))
        try await typing.latest("it is shown") { $0.refusal == nil }
        try await members.latest("so are the members") { $0.refusal == nil && $0.people.count == 1 }
        let joined = world.connection.count(\.isJoin)
        await world.advance(by: .seconds(120))
        #expect(world.connection.count(\.isJoin) == joined, "it is joined only once")
        world.connection.send(.removed("c42"))
        await world.settle()
        try await typing.latest("the user is removed") { $0.refusal?.code == .notAMember }
        await world.advance(by: .milliseconds(1900))
        #expect(world.connection.count(\.isJoin) == joined)
        await world.advance(by: .seconds(5))
        try await typing.latest("the user is back") { $0.refusal == nil }
        #expect(world.connections.count == 1)
    }

    @Test("what is refused in parts is repeated in parts")
    func inParts() async throws {
        let asked = NIOLockedValueBox(0)
        let world = TestWorld { request, connection in
            guard case .watch(let users) = request.message,
                users.contains("bob"),
                asked.withLockedValue({
                    $0 += 1
                    return $0
                }) < 5
            else { return connection.behave(request) }
            connection.send(.error(MessageError(code: .unavailable, id: request.id, message: "later")))
        }
        let client = try await world.connected()
        let bob = Collected(client.presence(of: "bob"))
        await world.settle()
        let carol = Collected(client.presence(of: "carol"))
        await world.settle()
        try await carol.latest("carol is known") { $0.status == .offline }
        await world.advance(by: .seconds(5))
        try await bob.latest("bob is known") { $0.status == .offline }
        #expect(world.connection.count { $0 == .watch(["carol"]) } == 1)
        #expect(world.connection.count { $0 == .watch(["bob"]) } == 5)
    }

    @Test("what is given up while it waits for its retry is not requested again")
    func givenUp() async throws {
        refuser.refuse(.unavailable)
        let client = try await world.connected()
        let bob = Collected(client.presence(of: "bob"))
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        #expect(refuser.refused == 2)
        bob.cancel()
        typing.cancel()
        try await eventually("they end") { bob.hasEnded && typing.hasEnded }
        await world.advance(by: .seconds(60))
        #expect(refuser.refused == 2)
        #expect(Set(world.connection.messages.suffix(2)) == [.leave("c42"), .unwatch(["bob"])])
        #expect(await client.inspect { $0.holdings.isEmpty && $0.outbox.deadline == nil })
    }

    @Test("a reconnect requests everything at once, and sends nothing that belongs to the old connection")
    func reconnect() async throws {
        refuser.refuse(.unavailable)
        let client = try await world.connected { $0.longestPause = .zero }
        let bob = Collected(client.presence(of: "bob"))
        await world.settle()
        refuser.refuse(nil)
        world.connection.drop()
        await world.settle()
        try await bob.latest("bob is known") { $0.status == .offline }
        await world.advance(by: .seconds(60))
        #expect(world.connections.count == 2)
        #expect(world.connections[1].count(\.isWatch) == 1)
    }

    @Test("a state and a token that are refused temporarily are sent again with their current values")
    func stateAndToken() async throws {
        let client = try await world.connected()
        refuser.refuse(.unavailable)
        client.setState(.idle)
        await world.settle()
        client.setState(.background)
        await world.advance(by: .seconds(10))
        refuser.refuse(nil)
        await world.advance(by: .seconds(16))
        let states = world.connection.messages.compactMap { if case .state(let state) = $0 { state } else { nil } }
        #expect(states.count { $0 == .idle } == 1 && states.last == .background)
        let said = states.count
        await world.advance(by: .seconds(60))
        #expect(world.connection.count { if case .state = $0 { true } else { false } } == said)
        _ = client
    }

    @Test("a request for many users that is refused as a whole is repeated once per attempt for each user")
    func fetch() async throws {
        refuser.refuse(.unavailable)
        let client = try await world.connected()
        let users = (0..<1000).map { try! UserID("user\($0)") }
        async let found = client.currentPresence(of: users, within: .seconds(60))
        try await eventually("it is asked") { refuser.refused > 0 }
        await world.advance(by: .seconds(1))
        let asked = world.connection.messages.reduce(0) {
            if case .get(let users) = $1 { $0 + users.count } else { $0 }
        }
        #expect(asked <= 251 * 12, "\(asked)")
        refuser.refuse(nil)
        await world.advance(by: .seconds(16))
        #expect(await found.count == 1000)
        #expect(await client.inspect { $0.people.reads.isEmpty && $0.outbox.gets.isEmpty })
    }

    @Test("refused typing continues by its own rules, and an awaited stop is reported as unconfirmed")
    func typing() async throws {
        let client = try await world.connected { $0.typing = try! TypingSettings(debounce: .zero) }
        let input = client.typingInput(in: "c42")
        await world.settle()
        refuser.refuse(.unavailable)
        input.edited("Hello")
        await world.advance(by: .milliseconds(2500))
        #expect(world.connection.count { $0 == .typing("c42", true) } == 3)
        async let confirmed = input.sendConfirmed()
        try await eventually("the stop is said") { world.connection.messages.last == .typing("c42", false) }
        #expect(await confirmed == false)
        await world.advance(by: .seconds(60))
        #expect(world.connection.messages.last == .typing("c42", false))
        #expect(world.connection.count(\.isTyping) == 4)
    }

    @Test("typing after a join that was refused temporarily is not reported as a problem")
    func typingBehindAJoin() async throws {
        let client = try await world.connected { $0.typing = try! TypingSettings(debounce: .zero) }
        let problems = Collected(client.problems)
        refuser.refuse(.unavailable)
        let input = client.typingInput(in: "c42")
        input.edited("Hello")
        await world.settle()
        world.connection.send(.error(MessageError(code: .notJoined, id: nil, message: "join the conversation first")))
        refuser.refuse(nil)
        await world.advance(by: .milliseconds(1500))
        #expect(
            world.connection.messages.last == .typing("c42", true), "it is joined, and told of the typing that goes on")
        #expect(problems.values.isEmpty)
        withExtendedLifetime(input) {}
    }

    @Test("users and conversations beyond a limit are requested when there is room, and the limit is reported")
    func limit() async throws {
        // More than the client requests before it knows the worker's limits.
        let limits = ServerMessage.Limits(
            watchedUsers: 40, joinedConversations: 3, messageBytes: 65_536, messageRate: 500, messageBurst: 500)
        let served = NIOLockedValueBox<(users: Set<UserID>, rooms: Set<ConversationID>)>(([], []))
        let world = TestWorld { request, connection in
            let isTaken = served.withLockedValue {
                switch request.message {
                case .watch(let users):
                    guard $0.users.union(users).count <= 40 else { return false }
                    $0.users.formUnion(users)
                case .unwatch(let users): $0.users.subtract(users)
                case .join(let conversation, _, _):
                    guard $0.rooms.union([conversation]).count <= 3 else { return false }
                    $0.rooms.insert(conversation)
                case .leave(let conversation): $0.rooms.remove(conversation)
                default: break
                }
                return true
            }
            if isTaken { return connection.behave(request, limits: limits) }
            connection.send(.error(MessageError(code: .limit, id: request.id, message: "too many")))
        }
        let client = world.client()
        let problems = Collected(client.problems)
        let users = (0..<60).map { Collected(client.presence(of: try! UserID("user\(100 + $0)"))) }
        let rooms = (0..<5).map { Collected(client.typing(in: try! ConversationID("c\($0)"))) }
        client.connect()
        await world.advance(by: .seconds(20))
        try await eventually("as many as the worker serves are shown") {
            users.count { !$0.values.isEmpty } == 40
                && rooms.count { $0.values.last?.refusal == nil && !$0.values.isEmpty } == 3
        }
        try await problems.latest("the limit is told") { $0.code == .limit }
        // Chosen before the first is cancelled: from then on, others are shown.
        let shownUsers = users.filter { !$0.values.isEmpty }
        let shownRooms = rooms.filter { $0.values.last?.refusal == nil && !$0.values.isEmpty }
        for shown in shownUsers { shown.cancel() }
        for shown in shownRooms { shown.cancel() }
        try await eventually("they end") { users.count(where: \.hasEnded) == 40 && rooms.count(where: \.hasEnded) == 3 }
        await world.advance(by: .seconds(20))
        try await eventually("the others have come") {
            users.allSatisfy { !$0.values.isEmpty }
                && rooms.allSatisfy { $0.values.last.map { $0.refusal == nil } ?? false }
        }
    }
}
