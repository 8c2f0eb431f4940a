// The models for views, on a clock that the test advances.

import Foundation
import Observation
import RollcallTesting
import Testing

@Suite @MainActor struct ModelTests {
    private let worker = FakeWorker()
    private let client: RollcallClient

    init() {
        client = worker.client(user: "alice")
        client.connect()
    }

    /// The worker's clock begins at 02:13:20.
    private var english: LastSeenText {
        var text = LastSeenText.english
        text.timeZone = .gmt
        return text
    }

    @Test("a user's dot and text follow presence and time")
    func presence() async {
        let model = PresenceModel(of: "bob", from: client, text: english)
        #expect(model.dot == .none && model.text == "")
        let bob = worker.person("bob")
        await bob.comes()
        #expect(model.dot == .green && model.text == "Active now" && model.isOnline)
        await bob.goes()
        #expect(model.dot == .grey)
        var lines: [String] = []
        for pause in [Duration.seconds(59), .seconds(1), .seconds(240), .seconds(3300), .seconds(23 * 3600)] {
            await worker.passes(pause)
            lines.append(model.text)
        }
        #expect(
            lines == ["Last seen just now", "1m ago", "Active recently", "Last seen today", "Last seen within a week"])
    }

    @Test("the typing text, label and announcement of others; the user's own draft")
    func typing() async {
        let model = TypingModel(in: "c42", from: client)
        let bob = worker.person("bob", name: "Bob")
        await bob.types(in: "c42")
        #expect(model.text == "Bob is typing…")
        #expect(model.label == "Bob is typing" && model.typing.count == 1)
        #expect(model.announcement == "Bob is typing")
        model.draft = "Hello"
        await worker.passes(.seconds(1))
        #expect(await worker.typists(in: "c42").contains("alice"))
        model.sends()
        await worker.settles()
        #expect(model.draft == "")
        #expect(await worker.typists(in: "c42") == ["bob"])
        await bob.stops(in: "c42")
        #expect(model.text == "" && model.announcement == "")
    }

    @Test("text written while a message's stop is being confirmed belongs to the next message")
    func confirmed() async {
        let model = TypingModel(in: "c42", from: client)
        model.draft = "Hello"
        await worker.passes(.seconds(1))
        let sending = Task { await model.sendsConfirmed() }
        #expect(await worker.until { model.draft == "" })
        model.draft = "And"
        await sending.value
        #expect(model.draft == "And")
        await worker.passes(.seconds(1))
        #expect(await worker.typists(in: "c42") == ["alice"])
    }

    @Test("a view that observes a model is notified of each change")
    func observed() async {
        let model = TypingModel(in: "c42", from: client)
        await worker.settles()
        await confirmation { changed in
            withObservationTracking {
                _ = model.text
            } onChange: {
                changed()
            }
            await worker.person("bob", name: "Bob").types(in: "c42")
        }
    }

    @Test("the connection's state")
    func connection() async {
        let model = ConnectionModel(of: client)
        await worker.settles()
        #expect(model.isConnected)
        #expect(model.staleSince == nil)
        let time = client.serverTime
        await worker.goesAway()
        await worker.passes(.seconds(60))
        #expect(!model.isConnected && model.staleSince == time)
        await worker.comesBack()
        await worker.passes(.seconds(3))
        #expect(model.isConnected && model.staleSince == nil)
    }

    @Test("a list of conversations has live rows, whichever it shows; a view without a field only observes")
    func conversations() async {
        let list = ConversationsModel(["c1": ["bob"], "c2": ["bob", "carol"]], from: client)
        let only = TypingModel(in: "c3", from: client, hasField: false)
        let (bob, carol) = (worker.person("bob", name: "Bob"), worker.person("carol", name: "Carol"))
        await bob.comes()
        await carol.types(in: "c2")
        await carol.types(in: "c3")
        #expect(list.typingText(in: "c2") == "Carol is typing…" && list.typingText(in: "c1") == "")
        #expect(list.presence(of: "bob")?.status == .online && list.presence(of: "carol")?.lastSeen == nil)
        #expect(only.text == "Carol is typing…")
        only.draft = "ignored"
        list.rows = ["c2": ["carol"], "c4": []]
        await worker.passes(.seconds(1))
        #expect(list.typingText(in: "c2") == "Carol is typing…" && list.presence(of: "bob") == nil)
        let heard = await worker.heard()
        #expect(heard.count { $0 == .join("c2", presence: false) } == 1, "what stays is not asked for again")
        #expect(heard.contains(.leave("c1")) && heard.contains(.unwatch(["bob"])))
        #expect(!heard.contains(.typing("c3", true)))
    }

    @Test("a new model shows at once what the client knows")
    func known() async {
        let bob = worker.person("bob", name: "Bob")
        await worker.setMembers(["alice": "Alice", "bob": "Bob"], of: "c1")
        let shown = (
            PresenceModel(of: "bob", from: client), TypingModel(in: "c1", from: client),
            MembersModel(of: "c1", from: client)
        )
        await bob.comes()
        await bob.types(in: "c1")
        #expect(PresenceModel(of: "bob", from: client).text == "Active now")
        #expect(TypingModel(in: "c1", from: client).text == "Bob is typing…")
        #expect(MembersModel(of: "c1", from: client).people.map(\.name) == ["Alice", "Bob"])
        let list = ConversationsModel(["c1": ["bob", "carol"]], from: client)
        #expect(list.typingText(in: "c1") == "Bob is typing…" && list.presenceText(of: "bob") == "Active now")
        client.close()
        await worker.settles()
        #expect(PresenceModel(of: "bob", from: client).text == "", "a closed client knows nobody")
        #expect(TypingModel(in: "c1", from: client).text == "")
        _ = shown
    }

    @Test("a list of 500 people watches those on the screen and the last to leave it, and no others")
    func people() async {
        let users = (0..<500).map { try! UserID("user\($0)") }
        let list = PeopleModel(from: client, text: english)
        for user in users.prefix(20) { list.appeared(user) }
        await worker.person("user7").was(lastSeen: .seconds(90))
        let row = list["user7"]
        #expect(row === list["user7"] && row.text == "1m ago")
        // One scrolls through all of them, ten rows a second.
        for (index, user) in users.enumerated().dropFirst(20) {
            list.appeared(user)
            list.disappeared(users[index - 20])
            if index % 10 == 0 { await worker.passes(.seconds(1)) }
        }
        var (watched, messages) = (Set<UserID>(), 0)
        for message in await worker.heard() {
            switch message {
            case .watch(let users): watched.formUnion(users)
            case .unwatch(let users): watched.subtract(users)
            default: continue
            }
            messages += 1
        }
        print("500 people: \(messages) messages, \(watched.count) watched at last")
        #expect(watched.isSuperset(of: users.suffix(70)) && watched.count <= 120 && messages <= 1000)
        #expect(list["user7"] !== row, "what left the screen long ago was given up")
        let seen = list["user470"]
        list.appeared("user470")
        list.appeared("user470")
        list.disappeared("user470")
        for user in users.prefix(200) { _ = list[user] }
        #expect(list["user470"] === seen, "a row that two places show stays")
    }

    @Test("an observer ends with its owner, or when it is released")
    func observer() async {
        final class Label: Sendable {
            @MainActor var texts: [Int] = []
        }
        let bob = worker.person("bob")
        var label: Label? = Label()
        weak let weakly = label
        var observer = label.map { client.typing(in: "c1").observe(for: $0) { $0.texts.append($1.count) } }
        await bob.types(in: "c1")
        #expect(label?.texts == [0, 1])
        observer = nil
        await bob.stops(in: "c1")
        #expect(label?.texts == [0, 1] && observer == nil)
        observer = label.map { client.typing(in: "c1").observe(for: $0) { $0.texts.append($1.count) } }
        label = nil
        await bob.types(in: "c1")
        #expect(weakly == nil)
    }

    @Test("a banner says what is wrong, in the client's language, after some seconds")
    func banner() async {
        var options = ClientOptions()
        options.language = .german
        let german = worker.client(user: "alice", device: "laptop", options: options)
        german.connect()
        let (banner, chat) = (ConnectionModel(of: german), TypingModel(in: "c1", from: german))
        await worker.person("bob", name: "Bob").types(in: "c1")
        #expect(banner.text == "" && chat.label == "Bob schreibt")
        await worker.goesAway()
        await worker.passes(.seconds(4))
        #expect(banner.text == "")
        await worker.passes(.seconds(2))
        #expect(banner.text == "Verbindung wird hergestellt\u{A0}…")
        await worker.comesBack()
        await worker.passes(.seconds(2))
        await worker.closes(.badToken)
        #expect(banner.text == "Bitte erneut anmelden")
    }

    @Test("the first text waits for a name that the app looks up, 100 ms at most")
    func names() async {
        var options = ClientOptions()
        options.names = { user in
            if user == "carol" { try? await Task.sleep(for: .seconds(3600)) }
            return "Dr \(user)"
        }
        let client = worker.client(user: "alice", device: "laptop", options: options)
        client.connect()
        let model = TypingModel(in: "c1", from: client)
        await worker.person("bob").types(in: "c1")
        #expect(model.text == "Dr bob is typing…" && model.announcement == "Dr bob is typing")
        client.close()
    }

    @Test("presence texts of all rows age with one timer, and past midnight")
    func presenceTexts() async {
        let list = ConversationsModel(["c1": ["bob"], "c2": ["carol"]], from: client, lastSeen: english)
        #expect(list.presenceText(of: "bob") == "")
        await worker.person("carol").comes()
        await worker.person("bob").was(lastSeen: .seconds(90))
        #expect(list.presenceText(of: "carol") == "Active now" && list.presenceText(of: "bob") == "1m ago")
        await worker.person("carol").was(lastSeen: .seconds(3 * 3600))
        var changes = 0
        func shown() -> [String] {
            withObservationTracking {
                [list.presenceText(of: "bob"), list.presenceText(of: "carol")]
            } onChange: {
                MainActor.assumeIsolated { changes += 1 }
            }
        }
        // Carol was seen at 23:13:20.
        #expect(shown() == ["1m ago", "Last seen yesterday"])
        for (pause, lines) in [
            (29, ["1m ago", "Last seen yesterday"]), (1, ["2m ago", "Last seen yesterday"]),
            (60, ["3m ago", "Last seen yesterday"]), (3600, ["Last seen today", "Last seen yesterday"]),
            (21 * 3600, ["Last seen yesterday", "Last seen within a week"]),
        ] as [(Int64, [String])] {
            let before = changes
            await worker.passes(.seconds(pause))
            #expect((changes > before) == (pause != 29), "a view is told in time")
            #expect(shown() == lines)
        }
    }

    @Test("models show nobody's presence after five seconds without a connection, until a new one has confirmed it")
    func stale() async throws {
        let bob = worker.person("bob")
        let (model, list) = (
            PresenceModel(of: "bob", from: client), ConversationsModel(["c1": ["bob"]], from: client)
        )
        await worker.setMembers(["alice": "Alice", "bob": "Bob"], of: "c42")
        let group = MembersModel(of: "c42", from: client)
        await bob.comes()
        var stream = client.presence(of: "bob").makeAsyncIterator()
        #expect(await stream.next()?.status == .online)
        func shown() -> [String] { [model.text, "\(model.dot)", list.presenceText(of: "bob"), group.countText] }
        let here = ["Active now", "green", "Active now", "2 of 2 online"]
        #expect(shown() == here)
        await worker.goesAway()
        await worker.passes(.milliseconds(4999))
        #expect(shown() == here)
        await worker.passes(.milliseconds(1))
        #expect(shown() == ["", "none", "", ""])
        #expect(group.people.map(\.name) == ["Alice", "Bob"])
        #expect(stream.pending() == nil)
        await worker.becomesUnavailable()
        await worker.comesBack()
        await worker.passes(.seconds(60))
        #expect(client.connection.latest.isConnected && shown() == ["", "none", "", ""], "Redis is away")
        await worker.becomesAvailable()
        await worker.passes(.seconds(20))
        #expect(shown() == here)
    }

    @Test("a client that starts without a network is stale after five seconds")
    func startsOffline() async {
        let offline = worker.client(user: "dave")
        let model = ConnectionModel(of: offline)
        await worker.goesAway()
        await worker.passes(.seconds(60))
        #expect(!model.isStale, "nobody has connected it")
        offline.connect()
        await worker.passes(.milliseconds(4999))
        #expect(!model.isStale)
        await worker.passes(.milliseconds(1))
        #expect(model.isStale && model.staleSince == nil)
        await worker.comesBack()
        await worker.passes(.seconds(2))
        #expect(!model.isStale)
    }

    @Test("models of a closed client show nothing")
    func closed() async {
        let typing = TypingModel(in: "c42", from: client)
        let bob = PresenceModel(of: "bob", from: client)
        let list = ConversationsModel(["c42": ["bob"]], from: client)
        await worker.setMembers(["alice": "Alice", "bob": "Bob"], of: "c42")
        let group = MembersModel(of: "c42", from: client)
        await worker.person("bob", name: "Bob").comes()
        await worker.person("bob", name: "Bob").types(in: "c42")
        func shown() -> [String] {
            [typing.text, bob.text, list.typingText(in: "c42"), list.presenceText(of: "bob"), group.countText]
        }
        #expect(shown() == ["Bob is typing…", "Active now", "Bob is typing…", "Active now", "2 of 2 online"])
        client.close()
        await worker.settles()
        #expect(shown() == ["", "", "", "", ""])
    }

    @Test("why a conversation is not shown is in its models, and a problem once")
    func refused() async {
        await worker.setMembers(["bob": "Bob"], of: "c42")
        let problems = client.problems.makeAsyncIterator()
        await worker.settles()
        let (typing, group) = (TypingModel(in: "c42", from: client), MembersModel(of: "c42", from: client))
        await worker.settles()
        #expect(problems.pending()?.code == .notAMember)
        await worker.passes(.seconds(300))
        #expect(typing.refusal?.code == .notAMember && group.refusal?.code == .notAMember && problems.pending() == nil)
        await worker.setMembers(["alice": "Alice"], of: "c42")
        await worker.passes(.seconds(60))
        #expect(typing.refusal == nil && group.refusal == nil)
    }

    @Test("a draft that is put back is no typing, nor what the program clears")
    func restored() async {
        let model = TypingModel(in: "c42", from: client)
        model.restored("Hello")
        await worker.passes(.seconds(1))
        #expect(model.draft == "Hello")
        #expect(await worker.typists(in: "c42").isEmpty)
        model.draft = "Hello!"
        await worker.passes(.seconds(1))
        #expect(await worker.typists(in: "c42") == ["alice"])
        model.restored("")
        await worker.settles()
        #expect(await worker.typists(in: "c42").isEmpty)
    }

    @Test("models that are released end their subscriptions and the user's typing, without being closed")
    func letGo() async {
        weak var gone: TypingModel?
        do {
            let typing = TypingModel(in: "c42", from: client)
            let group = MembersModel(of: "c42", from: client)
            let bob = PresenceModel(of: "bob", from: client)
            gone = typing
            typing.draft = "Hello"
            await worker.passes(.seconds(1))
            #expect(await worker.typists(in: "c42") == ["alice"])
            withExtendedLifetime((group, bob)) {}
        }
        #expect(gone == nil)
        await worker.settles()
        #expect(await worker.typists(in: "c42").isEmpty)
        let heard = await worker.heard()
        #expect(heard.contains(.leave("c42")) && heard.contains(.unwatch(["bob"])))
    }

    @Test("a model that waits for time to pass is released at once, too")
    func letGoWhileWaiting() async {
        weak var gone: PresenceModel?
        do {
            let model = PresenceModel(of: "bob", from: client)
            gone = model
            await worker.person("bob").was(lastSeen: .seconds(90))
            #expect(model.text == "1m ago")
        }
        await worker.settles()
        #expect(gone == nil)
    }
}
