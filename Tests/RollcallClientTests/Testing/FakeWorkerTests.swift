// The fake worker in tests of an application.

import Observation
import RollcallTesting
import Testing

/// A view model as an application might write it.
@MainActor @Observable
private final class ChatHeader {
    private(set) var text = ""
    private(set) var isOffline = false
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    init(_ rollcall: RollcallClient) {
        rollcall.connect()
        tasks = [
            Task { for await typing in rollcall.typing(in: "c42") { text = TypingText.english.text(for: typing) } },
            Task { for await state in rollcall.connection { isOffline = !state.isConnected } },
        ]
    }

    func close() { for task in tasks { task.cancel() } }
}

@Suite @MainActor struct FakeWorkerTests {
    private let worker = FakeWorker()

    @Test("a worker whose Redis is away refuses; the client shows what it knew, and what is new once Redis is back")
    func unavailable() async {
        let worker = FakeWorker()
        let client = worker.client(user: "alice")
        client.connect()
        let (bob, carol) = (worker.person("bob"), worker.person("carol"))
        await bob.comes()
        var known = client.presence(of: "bob").makeAsyncIterator()
        #expect(await known.next()?.status == .online)
        await worker.becomesUnavailable()
        await carol.comes()
        let new = client.presence(of: "carol").makeAsyncIterator()
        await worker.passes(.seconds(60))
        #expect(new.pending() == nil && known.pending() == nil && client.connection.latest.isConnected)
        await worker.becomesAvailable()
        await worker.passes(.seconds(15))
        #expect(new.pending()?.status == .online)
    }

    @Test("an application's view model sees bob type, the connection drop, and the state afterwards")
    func header() async {
        let header = ChatHeader(worker.client(user: "alice"))
        defer { header.close() }
        let (bob, carol) = (worker.person("bob", name: "Bob"), worker.person("carol", name: "Carol"))
        await bob.types(in: "c42")
        #expect(header.text == "Bob is typing…")
        await carol.types(in: "c42")
        #expect(header.text == "Bob and Carol are typing…")
        await worker.goesAway()
        #expect(header.isOffline)
        await bob.stops(in: "c42")
        await worker.comesBack()
        await worker.passes(.seconds(5))
        #expect(!header.isOffline)
        #expect(header.text == "Carol is typing…")
        await worker.passes(.seconds(3600))
        #expect(header.text == "Carol is typing…", "a typing that goes on never expires")
        await carol.stops(in: "c42")
        #expect(header.text == "")
    }

    @Test("the user's own typing as others see it, on the test clock")
    func ownTyping() async {
        let client = worker.client(user: "alice")
        client.connect()
        let input = client.typingInput(in: "c42")
        input.edited("H")
        await worker.passes(.milliseconds(299))
        #expect(await worker.typists(in: "c42").isEmpty)
        await worker.passes(.milliseconds(1))
        #expect(await worker.typists(in: "c42") == ["alice"])
        await worker.passes(.milliseconds(2700))
        #expect(await worker.typists(in: "c42").isEmpty, "no edit for three seconds")
        input.edited("Hi")
        await worker.settles()
        #expect(await worker.typists(in: "c42") == ["alice"])
        #expect(await input.sendConfirmed(by: worker))
        #expect(await worker.typists(in: "c42").isEmpty)
    }

    @Test("ten seconds at twelve keys per second cause at most ten signals and one stop")
    func signals() async {
        let client = worker.client(user: "alice")
        client.connect()
        let input = client.typingInput(in: "c42")
        for key in 0..<120 {
            input.edited(String(repeating: "x", count: key + 1))
            await worker.passes(.milliseconds(83))
        }
        input.send()
        await worker.settles()
        let signals = await worker.heard().compactMap { if case .typing(_, let typing, _) = $0 { typing } else { nil } }
        #expect(signals.count { $0 } <= 10)
        #expect(signals.count { !$0 } == 1 && signals.last == false)
    }

    @Test("signing out while typing stops it, and later edits have no effect")
    func signOut() async {
        let client = worker.client(user: "alice")
        client.connect()
        let input = client.typingInput(in: "c42")
        input.edited("H")
        await worker.passes(.milliseconds(300))
        #expect(await worker.typists(in: "c42") == ["alice"])
        client.close()
        input.edited("He")
        await worker.settles()
        #expect(await worker.heard().last == .goodbye)
        #expect(await worker.typists(in: "c42").isEmpty)
    }

    @Test("a client that returns to the foreground after losing its connection shows the current state")
    func foreground() async {
        let client = worker.client(user: "alice")
        let header = ChatHeader(client)
        defer { header.close() }
        let (bob, carol) = (worker.person("bob", name: "Bob"), worker.person("carol", name: "Carol"))
        await bob.types(in: "c42")
        client.setPhase(.background)
        await worker.goesAway()
        await bob.stops(in: "c42")
        await carol.types(in: "c42")
        await worker.comesBack()
        client.setPhase(.active)
        await worker.settles()
        #expect(header.text == "Carol is typing…", "without waiting for the next attempt")
    }

    @Test("typing comes only from observed conversations")
    func joinedOnly() async {
        let header = ChatHeader(worker.client(user: "alice"))
        defer { header.close() }
        await worker.person("bob", name: "Bob").types(in: "elsewhere")
        #expect(header.text == "")
        let joined = await worker.heard().compactMap {
            if case .join(let conversation, _, _) = $0 { conversation } else { nil }
        }
        #expect(joined == ["c42"])
    }

    @Test("both sides of a conversation type at once; with three hundred, each change is one value")
    func many() async {
        let (alice, bob) = (worker.client(user: "alice"), worker.client(user: "bob"))
        let chats = [alice, bob].map { TypingModel(in: "c42", from: $0) }
        for client in [alice, bob] { client.connect() }
        for chat in chats { chat.draft = "Hello" }
        await worker.passes(.seconds(1))
        #expect(chats.map { $0.typing.typists.map(\.user) } == [["bob"], ["alice"]])
        for number in 1...298 { await worker.person(try! UserID("p\(number)"), name: "P\(number)").types(in: "c42") }
        #expect(chats.map(\.typing.count) == [299, 299], "all but oneself")
    }

    @Test("users connect, become idle and leave, with the right last-seen times")
    func people() async throws {
        let client = worker.client(user: "alice")
        client.connect()
        let bob = worker.person("bob")
        await bob.comes()
        #expect(await worker.status(of: "bob") == .online)
        var presences = client.presence(of: "bob").makeAsyncIterator()
        await worker.settles()
        #expect(await presences.next()?.status == .online)
        await bob.idles()
        #expect(await presences.next()?.status == .away)
        await bob.was(lastSeen: .seconds(120))
        let gone = await presences.next()
        #expect(LastSeenText.english.text(for: gone, at: try #require(client.serverTime)) == "2m ago")
    }

    @Test("two clients see each other, and a closed client is offline")
    func twoClients() async {
        let (alice, bob) = (worker.client(user: "alice"), worker.client(user: "bob"))
        alice.connect()
        bob.connect()
        await worker.settles()
        let model = PresenceModel(of: "bob", from: alice)
        await worker.settles()
        #expect(model.isOnline)
        bob.close()
        await worker.settles()
        #expect(model.presence?.status == .offline)
        #expect(await worker.heard().contains(.goodbye))
    }

    @Test("members are sent, and other users are refused")
    func members() async {
        let client = worker.client(user: "alice")
        client.connect()
        await worker.setMembers(["alice": "Alice", "bob": "Bob"], of: "c42")
        let group = MembersModel(of: "c42", from: client)
        let hindi = MembersModel(of: "c42", from: client, language: .hindi)
        #expect(group.countText == "")
        await worker.settles()
        #expect(group.countText == "1 of 2 online")
        #expect(hindi.countText == "2 में से 1 ऑनलाइन")
        await worker.person("bob").comes()
        #expect(group.countText == "2 of 2 online")
        #expect(hindi.countText == "2 में से 2 ऑनलाइन")
        await worker.setMembers(["bob": "Bob"], of: "c42")
        #expect(group.members.refusal?.code == .notAMember)
    }

    @Test("a user who is removed from a conversation stops typing, and cannot type there again")
    func removedWhileTyping() async {
        let header = ChatHeader(worker.client(user: "alice"))
        defer { header.close() }
        let bob = worker.person("bob", name: "Bob")
        await bob.types(in: "c42")
        #expect(header.text == "Bob is typing…")
        await worker.setMembers(["alice": "Alice"], of: "c42")
        #expect(header.text == "")
        #expect(await worker.typists(in: "c42").isEmpty)
        await bob.types(in: "c42")
        #expect(header.text == "")
        await worker.setMembers(["alice": "Alice", "bob": "Bob"], of: "c42")
        await bob.types(in: "c42")
        #expect(header.text == "Bob is typing…")
    }

    @Test("a user is online and typing while any of their devices is")
    func severalDevices() async {
        let phone = worker.client(user: "alice", device: "phone")
        let laptop = worker.client(user: "alice", device: "laptop")
        let inputs = [phone, laptop].map { $0.typingInput(in: "c42") }
        for client in [phone, laptop] { client.connect() }
        for input in inputs { input.edited("H") }
        await worker.passes(.milliseconds(300))
        #expect(await worker.typists(in: "c42") == ["alice"])
        inputs[0].send()
        await worker.settles()
        #expect(await worker.typists(in: "c42") == ["alice"], "on the laptop")
        phone.setState(.background)
        await worker.settles()
        #expect(await worker.status(of: "alice") == .online)
        laptop.setState(.idle)
        await worker.settles()
        #expect(await worker.status(of: "alice") == .away)
        phone.close()
        await worker.settles()
        #expect(await worker.status(of: "alice") == .away)
        laptop.close()
        await worker.settles()
        #expect(await worker.status(of: "alice") == .offline)
        #expect(await worker.typists(in: "c42").isEmpty)
    }

    @Test("a second client with the same device replaces the first, and stays online and typing")
    func replaced() async {
        let (first, second) = (worker.client(user: "alice", device: "tv"), worker.client(user: "alice", device: "tv"))
        first.connect()
        await worker.settles()
        second.connect()
        await worker.settles()
        #expect(second.connection.latest.isConnected)
        guard case .failed(let error) = first.connection.latest else { return #expect(Bool(false), "it goes on") }
        #expect(error.code == .replaced)
        let input = second.typingInput(in: "c42")
        input.edited("H")
        await worker.passes(.milliseconds(300))
        first.close()
        await worker.passes(.seconds(6))
        #expect(await worker.status(of: "alice") == .online)
        input.edited("Hi")
        await worker.passes(.milliseconds(300))
        #expect(await worker.typists(in: "c42") == ["alice"])
    }

    @Test("a device whose connection is lost goes offline after five seconds, unless it is back")
    func lostConnection() async {
        let client = worker.client(user: "alice")
        client.connect()
        await worker.settles()
        await worker.drops()
        await worker.passes(.seconds(10))
        #expect(client.connection.latest.isConnected)
        #expect(await worker.status(of: "alice") == .online)
        await worker.goesAway()
        await worker.passes(.milliseconds(4_900))
        #expect(await worker.status(of: "alice") == .online)
        await worker.passes(.milliseconds(200))
        #expect(await worker.status(of: "alice") == .offline)
        await worker.comesBack()
        await worker.passes(.seconds(5))
        #expect(await worker.status(of: "alice") == .online)
    }

    @Test("a permanent close code ends the attempts")
    func closed() async {
        let client = worker.client(user: "alice")
        client.connect()
        await worker.settles()
        #expect(client.connection.latest.isConnected)
        await worker.closes(.sentAway)
        await worker.passes(.seconds(60))
        guard case .failed(let error) = client.connection.latest else { return #expect(Bool(false), "it goes on") }
        #expect(error.code == .sentAway)
    }

    @Test("a test can wait for work of the application on other threads")
    func until() async {
        let client = worker.client(user: "alice")
        client.connect()
        let seen = Task.detached { await client.currentPresence(of: "bob")?.status }
        let done = Task.detached { _ = await seen.value }
        let heard = await worker.until { await worker.heard().contains(.get(["bob"])) }
        await worker.settles()
        #expect(heard)
        await done.value
        #expect(await seen.value == .offline)
    }
}

extension TypingInput {
    /// Waits for the confirmation while the worker runs.
    @MainActor fileprivate func sendConfirmed(by worker: FakeWorker) async -> Bool {
        async let confirmed = sendConfirmed()
        await worker.settles()
        return await confirmed
    }
}
