// Streams of typing and presence, and single presence requests.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct ObservingTests {
    @Test("from import to text on the screen, on the main actor")
    @MainActor func tenLines() async throws {
        let worker = try await ScriptedWorker { request, connection in
            connection.behave(request)
            if case .join = request.message {
                connection.send(
                    .typing(.init(conversation: "c42", users: [Typist(user: "bob", name: "Bob")], count: 1)))
            }
        }
        var label = ""
        let rollcall = RollcallClient(url: worker.url, device: "iphone") { "alice" }
        rollcall.connect()
        for await typing in rollcall.typing(in: "c42") {
            label = TypingText.english.text(for: typing)
            if !typing.isEmpty { break }
        }
        #expect(label == "Bob is typing…")
    }

    @Test("ten observers of one user cost one watch, each gets the latest value first, the last one ends it")
    func multicast() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let observers = (0..<10).map { _ in Collected(client.presence(of: "bob")) }
        let connection = world.connection
        for observer in observers { try await observer.latest("bob is offline") { $0.status == .offline } }
        connection.send(.presence([.of("bob", .online)]))
        for observer in observers { try await observer.latest("bob is online") { $0.status == .online } }
        let late = Collected(client.presence(of: "bob"))
        try await late.latest("bob is online for a late observer") { $0.status == .online }
        #expect(late.values.count == 1)
        for observer in observers { observer.cancel() }
        try await eventually("they end") { observers.allSatisfy(\.hasEnded) }
        connection.send(.presence([.of("bob", .away)]))
        try await late.latest("bob is away") { $0.status == .away }
        late.cancel()
        try await connection.hears(.watch(["bob"]), .unwatch(["bob"]))
        #expect(connection.messages.count == 3, "hello, watch, unwatch")
    }

    @Test("several users as one value")
    func group() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let users = (0..<1000).map { try! UserID("user\($0)") }
        let group = Collected(client.presence(of: users))
        try await group.latest("all are known") { $0.count == 1000 }
        #expect(group.values.count < 100, "a snapshot of many is few values")
        world.connection.send(.presence([.of(users[7], .online)]))
        try await group.latest("one came") { GroupCount(of: $0.values, total: 1000).online == 1 }
    }

    @Test("a set that the worker repeats is emitted once")
    func noFlicker() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let typing = Collected(client.typing(in: "c42"))
        let connection = world.connection
        try await connection.hears(.join("c42", presence: false))
        try await typing.latest("nobody types") { $0.isEmpty }
        for count in [1, 1, 1, 2, 1] {
            let users = ["bob", "carol"].prefix(count).map { Typist(user: try! UserID($0)) }
            connection.send(.typing(.init(conversation: "c42", users: users, count: count)))
            try await typing.latest("\(count) type") { $0.count == count }
        }
        #expect(typing.values.map(\.count) == [0, 1, 2, 1])
    }

    @Test("if a worker stops sending updates about a conversation, typing ends")
    func silentWorker() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        world.connection.send(.typing(.init(conversation: "c42", users: [Typist(user: "bob")], count: 1)))
        await world.advance(by: .milliseconds(4900))
        try await typing.latest("bob types") { $0.count == 1 }
        await world.advance(by: .milliseconds(200))
        try await typing.latest("bob is gone") { $0.isEmpty }
    }

    @Test("users who go on typing keep their places, whatever the order of a worker, and new ones follow")
    func places() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let typing = Collected(client.typing(in: "c42"))
        await world.settle()
        for (names, count, places) in [("abc", 300, "abc"), ("cbad", 4, "abcd"), ("xda", 3, "adx")] {
            let typists = names.map { Typist(user: try! UserID("\($0)")) }
            world.connection.send(.typing(.init(conversation: "c42", users: typists, count: count)))
            await world.settle()
            try await typing.latest("they are shown") {
                $0.count == count && $0.typists.map(\.user.text).joined() == places
            }
        }
    }

    @Test(
        "members are shown when everyone's presence is known, after a second at the latest, and afresh after a refusal")
    func patience() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let members = Collected(client.members(of: "c42"))
        await world.settle()
        func list(_ users: UserID...) {
            world.connection.send(
                .members(.init(conversation: "c42", users: users.map { .init(user: $0) }, count: users.count)))
        }
        list("bob", "carol")
        await world.advance(by: .milliseconds(900))
        world.connection.send(.presence([.of("bob", .online)]))
        await world.settle()
        #expect(members.values.isEmpty, "nobody reads 1 of 2 online")
        await world.advance(by: .milliseconds(200))
        try await members.latest("a second is over") { $0.people.map(\.presence?.status) == [.online, nil] }
        world.connection.send(.removed("c42"))
        await world.settle()
        list("dave")
        await world.settle()
        try await members.latest("the refusal stays until all is known") { $0.refusal != nil }
        world.connection.send(.presence([.of("dave", .away)]))
        await world.settle()
        try await members.latest("dave is known") { $0.people.map(\.presence?.status) == [.away] }
    }

    @Test("a new connection requests everything at once, and observers see the differences")
    func reconnect() async throws {
        let isLater = NIOLockedValueBox(false)
        let world = TestWorld { request, connection in
            guard isLater.withLockedValue({ $0 }), case .watch(let users) = request.message else {
                return connection.behave(request)
            }
            connection.send(.presence(users.map { .of($0, $0 == "bob" ? .online : .offline) }))
        }
        let client = try await world.connected()
        let bob = Collected(client.presence(of: "bob"))
        let carol = Collected(client.presence(of: "carol"))
        let typing = Collected(client.typing(in: "c42"))
        try await bob.latest("bob is offline") { $0.status == .offline }
        try await carol.latest("carol is offline") { $0.status == .offline }
        try await typing.latest("nobody types") { $0.isEmpty }
        let first = world.connection
        first.send(.typing(.init(conversation: "c42", users: [Typist(user: "bob")], count: 1)))
        try await typing.latest("bob types") { $0.count == 1 }
        isLater.withLockedValue { $0 = true }
        first.drop()
        await world.advance(by: .seconds(2))
        try await bob.latest("bob is online") { $0.status == .online }
        try await typing.latest("nobody types any more") { $0.isEmpty }
        let second = world.connections[1]
        #expect(
            second.messages == [
                .hello(.init(token: "alice", device: "phone", state: .active, user: "alice")),
                .join("c42", presence: false), .watch(["bob", "carol"]),
            ])
        #expect(carol.values.count == 1, "nothing about carol has changed")
    }

    @Test("a user who is removed or was never admitted sees no typing, and the reason")
    func refused() async throws {
        let world = TestWorld { request, connection in
            if case .join("closed", _, _) = request.message {
                connection.send(.error(MessageError(code: .notAMember, id: request.id, message: "members only")))
            } else {
                connection.behave(request)
            }
        }
        let client = try await world.connected()
        let closed = Collected(client.typing(in: "closed"))
        try await closed.latest("it is refused") { $0.refusal == RollcallError(.notAMember, "members only") }
        let open = Collected(client.typing(in: "open"))
        let connection = world.connection
        try await connection.hears(.join("open", presence: false))
        connection.send(.typing(.init(conversation: "open", users: [Typist(user: "bob")], count: 1)))
        try await open.latest("bob types") { $0.count == 1 }
        connection.send(.removed("open"))
        try await open.latest("removed") { $0.isEmpty && $0.refusal?.code == .notAMember }
        open.cancel()
        closed.cancel()
        try await eventually("nothing is left") { await client.inspect { $0.rooms.all.isEmpty } }
    }

    @Test("exceeding the limit of watched users is reported as a problem, without other effects")
    func limit() async throws {
        let limits = ServerMessage.Limits(
            watchedUsers: 2, joinedConversations: 9, messageBytes: 65_536, messageRate: 500, messageBurst: 500)
        let world = TestWorld { $1.behave($0, limits: limits) }
        let client = try await world.connected()
        let problems = Collected(client.problems)
        let observers = ["a", "b", "c"].map { Collected(client.presence(of: try! UserID($0))) }
        try await problems.latest("the limit is told") { $0.code == .limit }
        #expect(observers[2].values.isEmpty)
        observers[0].cancel()
        try await observers[2].latest("there is room now") { $0.status == .offline }
    }

    @Test("a refused message that belongs to no call is reported as a problem; temporary failures are not")
    func problems() async throws {
        let world = TestWorld()
        let client = world.client()
        let problems = Collected(client.problems)
        client.connect()
        try await client.isConnected()
        let connection = world.connection
        connection.send(.error(MessageError(code: .unavailable, id: nil, message: "later")))
        connection.send(.error(MessageError(code: .badRequest, id: nil, message: "what?")))
        try await problems.latest("it is told") { $0 == RollcallError(.badRequest, "what?") }
        #expect(problems.values.count == 1)
    }

    @Test("the application's names are requested once each, and shown when they arrive")
    func names() async throws {
        let world = TestWorld()
        let asked = NIOLockedValueBox<[UserID]>([])
        let isKnown = NIOLockedValueBox(false)
        let client = world.client {
            $0.names = { user in
                asked.withLockedValue { $0.append(user) }
                try? await eventually("the name is known") { isKnown.withLockedValue { $0 } }
                return user == "bob" ? "Bobby" : nil
            }
        }
        client.connect()
        await world.settle()
        let typing = Collected(client.typing(in: "c42"))
        let connection = world.connection
        try await connection.hears(.join("c42", presence: false))
        let users = [Typist(user: "bob", name: "Bob"), Typist(user: "carol", name: "Carol")]
        connection.send(.typing(.init(conversation: "c42", users: users, count: 2)))
        try await typing.latest("the members' names first") { $0.typists.map(\.name) == ["Bob", "Carol"] }
        isKnown.withLockedValue { $0 = true }
        try await typing.latest("then the app's") { $0.typists.map(\.name) == ["Bobby", "Carol"] }
        connection.send(.typing(.init(conversation: "c42", users: [users[0]], count: 1)))
        try await typing.latest("and at once from then on") { $0.typists.map(\.name) == ["Bobby"] }
        #expect(asked.withLockedValue { $0.sorted() } == ["bob", "carol"])
    }

    @Test("one user, or a thousand in one call")
    func fetch() async throws {
        let world = TestWorld()
        let client = world.client()
        async let early = client.currentPresence(of: "bob")
        client.connect()
        let answer = await early
        #expect(answer?.status == .away, "asked before the connection stood")
        let users = (0..<1000).map { try! UserID("user\($0)") }
        let presences = await client.currentPresence(of: users)
        #expect(presences.count == 1000)
        #expect(await client.currentPresence(of: []).isEmpty)
        #expect(await client.inspect { $0.people.reads.isEmpty })
    }

    @Test("an answer may arrive in parts, and after its acknowledgement")
    func fetchInParts() async throws {
        let world = TestWorld { request, connection in
            guard case .get(let users) = request.message, let id = request.id else { return connection.behave(request) }
            connection.send(.ack(id))
            for user in users { connection.send(.presence([.of(user, .online)], id: id)) }
        }
        let client = try await world.connected()
        let presences = await client.currentPresence(of: ["bob", "carol"])
        #expect(presences == ["bob": .of("bob", .online), "carol": .of("carol", .online)])
    }

    @Test("an answer that is late gives an unknown presence, not an error; a cancelled task does not wait")
    func fetchUnanswered() async throws {
        let world = TestWorld { request, connection in
            guard case .get = request.message else { return connection.behave(request) }
            connection.send(.presence([.of("bob", .online)], id: request.id))
        }
        let client = try await world.connected()
        async let found = client.currentPresence(of: ["bob", "carol"], within: .seconds(5))
        try await eventually("it is asked") { await client.inspect { !$0.people.reads.isEmpty } }
        await world.advance(by: .milliseconds(4900))
        #expect(await client.inspect { !$0.people.reads.isEmpty })
        await world.advance(by: .milliseconds(200))
        #expect(await found == ["bob": .of("bob", .online)])
        let task = Task { await client.currentPresence(of: "carol", within: .seconds(3600)) }
        try await eventually("it is asked") { await client.inspect { !$0.people.reads.isEmpty } }
        task.cancel()
        #expect(await task.value == nil)
        #expect(await client.inspect { $0.people.reads.isEmpty })
    }

    /// Users whose enumeration cancels the task that reads their presence.
    private struct CancellingUsers: Sequence {
        func makeIterator() -> AnyIterator<UserID> {
            withUnsafeCurrentTask { $0?.cancel() }
            return AnyIterator(["bob" as UserID].makeIterator())
        }
    }

    @Test("a task that is cancelled just before its request for presence begins does not wait")
    func fetchCancelledEarly() async throws {
        let world = TestWorld { request, connection in
            if case .get = request.message { return }
            connection.behave(request)
        }
        let client = try await world.connected()
        let hasReturned = NIOLockedValueBox(false)
        let task = Task {
            let found = await client.currentPresence(of: CancellingUsers(), within: .seconds(3600))
            hasReturned.withLockedValue { $0 = true }
            return found
        }
        try await eventually("it returns without time passing") {
            await world.settle()
            return hasReturned.withLockedValue { $0 }
        }
        #expect(await task.value.isEmpty)
        #expect(await client.inspect { $0.people.reads.isEmpty })
    }

    @Test("requests that Redis could not answer, or that a lost connection dropped, are repeated")
    func fetchAgain() async throws {
        let asked = NIOLockedValueBox(0)
        let world = TestWorld { request, connection in
            guard case .get = request.message else { return connection.behave(request) }
            switch asked.withLockedValue({
                $0 += 1
                return $0
            }) {
            case 1: connection.send(.error(MessageError(code: .unavailable, id: request.id, message: "later")))
            case 2: connection.drop()
            default: connection.behave(request)
            }
        }
        let client = try await world.connected()
        async let found = client.currentPresence(of: "bob")
        try await eventually("it is asked") { asked.withLockedValue { $0 } == 1 }
        await world.advance(by: .seconds(2))
        #expect(await found?.status == .away)
        #expect(asked.withLockedValue { $0 } == 3)
    }

    @Test("ten thousand views of streams, inputs and requests leave nothing in the client")
    func noLeaks() async throws {
        // A wide budget, so that no message waits.
        let limits = ServerMessage.Limits(
            watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 1_000_000,
            messageBurst: 1_000_000)
        let world = TestWorld { $1.behave($0, limits: limits) }
        let client = try await world.connected()
        let traces = Traces()
        func openAndClose(_ views: Int) async throws {
            for view in 0..<views {
                let user = try UserID("user\(view % 7)")
                let conversation = try ConversationID("c\(view % 5)")
                var presence = client.presence(of: user).makeAsyncIterator()
                var typing = client.typing(in: conversation).makeAsyncIterator()
                let members = client.members(of: conversation).makeAsyncIterator()
                let problems = client.problems.makeAsyncIterator()
                var connection = client.connection.makeAsyncIterator()
                let input = client.typingInput(in: conversation)
                input.edited("x")
                let fetch = Task { await client.currentPresence(of: user) }
                // Some views are kept until they have shown something, the others are closed before that.
                if view.isMultiple(of: 100) {
                    await world.advance(by: .milliseconds(500))
                    await client.inspect { traces.note($0) }
                    _ = await (presence.next(), typing.next(), connection.next(), fetch.value)
                }
                fetch.cancel()
                withExtendedLifetime((presence, typing, members, problems, connection, input)) {}
                if view.isMultiple(of: 1000) { await world.advance(by: .seconds(10)) }
            }
            await world.advance(by: .seconds(60))
            try await eventually("nothing is left") { await client.inspect { $0.holdings.isEmpty } }
        }
        let timers = world.timers
        try await openAndClose(10_000)
        #expect(world.timers == timers, "views have left timers")
        #expect(traces.noted >= 200, "a room and a field of each view that was looked at")
        #expect(traces.alive.isEmpty, "views have left what was made for them")
        #expect(world.connections.count == 1)
        let worker = LeftAtTheWorker(by: world.connection.messages)
        #expect(worker.most.watched > 0 && worker.most.joined > 0 && worker.most.typing > 0, "views were told")
        #expect(worker.watched.isEmpty && worker.joined.isEmpty && worker.typing.isEmpty)
        // Nothing was given up that was not requested.
        #expect(worker.idle == 0)
    }
}

/// The objects that the engine created for views, and which of them still exist.
private final class Traces: Sendable {
    private struct Trace: @unchecked Sendable {
        weak var object: AnyObject?
        let kind: String
    }

    private let traces = NIOLockedValueBox<[Trace]>([])

    var noted: Int { traces.withLockedValue { $0.count } }
    var alive: [String] { traces.withLockedValue { $0.filter { $0.object != nil }.map(\.kind) } }

    func note(_ engine: Engine) {
        let rooms = Array(engine.rooms.all)
        let objects: [AnyObject] = rooms + rooms.flatMap(\.fields) + engine.people.reads
        traces.withLockedValue { $0 += objects.map { Trace(object: $0, kind: "\(type(of: $0))") } }
    }
}

/// What a worker serves after processing all messages, in order.
private struct LeftAtTheWorker {
    private(set) var watched: Set<UserID> = []
    private(set) var joined: Set<ConversationID> = []
    private(set) var typing: Set<ConversationID> = []
    private(set) var most = (watched: 0, joined: 0, typing: 0)
    /// The number of messages that gave up something that did not exist.
    private(set) var idle = 0

    init(by messages: [ClientMessage]) {
        for message in messages {
            take(message)
            most = (max(most.watched, watched.count), max(most.joined, joined.count), max(most.typing, typing.count))
        }
    }

    private mutating func take(_ message: ClientMessage) {
        switch message {
        case .watch(let users): watched.formUnion(users)
        case .unwatch(let users):
            idle += users.count { !watched.contains($0) }
            watched.subtract(users)
        case .join(let conversation, _, _): joined.insert(conversation)
        case .leave(let conversation):
            if joined.remove(conversation) == nil { idle += 1 }
            typing.remove(conversation)
        case .typing(let conversation, true, _): typing.insert(conversation)
        case .typing(let conversation, false, _): typing.remove(conversation)
        case .hello, .token, .state, .get, .enter, .exit, .person, .ping, .goodbye: break
        }
    }
}

extension Engine {
    /// What the client keeps for views, by kind.
    var holdings: [String: Int] {
        [
            "observations": observations.count, "presences": people.presences.count, "rooms": rooms.all.count,
            "reads": people.reads.count, "stops": stops.count, "pauses": pauses.count,
            "watched": outbox.users.servedCount, "joined": outbox.conversations.servedCount,
        ].filter { $0.value > 0 }
    }
}
