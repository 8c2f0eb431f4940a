// The models for views, on a clock that the test advances.

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

    @Test("a user's dot and text follow presence and time")
    func presence() async {
        let model = PresenceModel(of: "bob", from: client)
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
        #expect(lines == ["Last seen just now", "1m ago", "Active recently", "Last seen today", "Last seen recently"])
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
        await worker.goesAway()
        #expect(!model.isConnected)
        await worker.comesBack()
        await worker.passes(.seconds(3))
        #expect(model.isConnected)
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
