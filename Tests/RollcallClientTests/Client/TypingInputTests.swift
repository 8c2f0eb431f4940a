// The user's own typing, from the text field to the connection.

import Dispatch
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient
@testable import RollcallTesting

@Suite struct TypingInputTests {
    private let world = TestWorld()
    private let client: RollcallClient

    init() {
        client = world.client { $0.typing = try! TypingSettings(debounce: .zero) }
    }

    /// Connects, and returns the worker's side.
    private func connected() async throws -> TestWorld.Connection {
        client.connect()
        await world.settle()
        try await client.isConnected()
        return world.connection
    }

    /// The messages that the client has sent after its hello.
    private func said() async -> [ClientMessage] {
        await world.settle()
        return Array(world.connection.messages.dropFirst())
    }

    @Test("what nobody sees is no typing, nor what the program puts there; what has no text is kept up")
    func visible() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let input = client.typingInput(in: "c42")
        for text in [" \t\u{a0}\u{3000}", "\u{200b}\u{200d}\u{feff}", "\u{2060}\u{ad} \u{fe0f}"] { input.edited(text) }
        input.restored("a draft")
        await world.advance(by: .seconds(5))
        #expect(world.connection.count(\.isTyping) == 0)
        input.keepTyping()
        await world.advance(by: .seconds(1))
        input.restored("more of a draft")
        #expect(world.connection.messages.last == .typing("c42", true))
        input.restored("")
        await world.settle()
        #expect(world.connection.messages.last == .typing("c42", false))
        input.keepTyping()
        await world.advance(by: .seconds(1))
        #expect(world.connection.messages.last == .typing("c42", true))
        input.stopTyping()
        await world.settle()
        #expect(world.connection.messages.last == .typing("c42", false))
    }

    @Test("others are told what the user does; of two inputs, the one edited last counts")
    func kinds() async throws {
        _ = try await connected()
        let (input, other) = (client.typingInput(in: "c42"), client.typingInput(in: "c42"))
        input.keepTyping(.recording)
        await world.settle()
        #expect(world.connection.messages.last == .typing("c42", true, kind: .recording))
        await world.advance(by: .milliseconds(1))
        other.keepTyping(.uploading)
        await world.settle()
        #expect(world.connection.messages.last == .typing("c42", true, kind: .uploading))
        other.stopTyping()
        await world.advance(by: .seconds(1))
        #expect(world.connection.messages.last == .typing("c42", true, kind: .recording))
        input.edited("x")
        await world.settle()
        #expect(world.connection.messages.last == .typing("c42", true))
    }

    @Test("edits become signals, renewed until inactivity, in a conversation that is joined first")
    func edits() async throws {
        _ = try await connected()
        let input = client.typingInput(in: "c42")
        input.edited("  \n\t ")
        input.edited("Hel")
        await world.advance(by: .milliseconds(2950))
        #expect(await said() == [.join("c42", presence: false)] + Array(repeating: .typing("c42", true), count: 3))
        await world.advance(by: .milliseconds(50))
        #expect(await said().last == .typing("c42", false))
        input.edited("Hell")
        input.edited("   ")
        #expect(await said().suffix(2) == [.typing("c42", true), .typing("c42", false)])
        await world.advance(by: .seconds(60))
        #expect(world.connection.count(\.isTyping) == 6)
    }

    @Test("sending stops the typing at once, and can be awaited until it is published")
    func send() async throws {
        let connection = try await connected()
        let input = client.typingInput(in: "c42")
        input.edited("Hello")
        input.send()
        #expect(await said().suffix(2) == [.typing("c42", true), .typing("c42", false)])
        input.edited("Again")
        await world.settle()
        #expect(await input.sendConfirmed())
        let stop = try #require(connection.received.last)
        #expect(stop.message == .typing("c42", false))
        #expect(stop.id != nil)
    }

    @Test("an unconfirmed stop is reported, and delays nothing")
    func unconfirmed() async throws {
        let world = TestWorld { request, connection in
            if case .typing(_, false, _) = request.message { return }
            connection.behave(request)
        }
        let client = world.client()
        let input = client.typingInput(in: "c42")
        #expect(await input.sendConfirmed() == false, "not connected")
        client.connect()
        await world.settle()
        try await client.isConnected()
        async let unanswered = input.sendConfirmed()
        try await eventually("it is sent") { world.connection.count(\.isTyping) == 1 }
        await world.advance(by: .milliseconds(1900))
        #expect(await client.inspect { $0.stops.count } == 1)
        await world.advance(by: .milliseconds(200))
        #expect(await unanswered == false, "not acknowledged")
        async let waiting = input.sendConfirmed(within: .seconds(60))
        try await eventually("it is sent") { world.connection.count(\.isTyping) == 2 }
        world.connection.drop()
        await world.settle()
        #expect(await waiting == false, "the connection was lost")
        #expect(await client.inspect { $0.stops.isEmpty })
    }

    @Test("leaving the view stops and leaves, the background stops first, and releasing the input stops too")
    func leaving() async throws {
        _ = try await connected()
        var input: TypingInput? = client.typingInput(in: "c42")
        input?.edited("Hello")
        await world.settle()
        client.setPhase(.background)
        #expect(await said().suffix(3) == [.typing("c42", true), .typing("c42", false), .state(.background)])
        input?.edited("Hello?")
        input?.keepTyping()
        #expect(await said().last == .state(.background), "nothing is typed in the background")
        client.setPhase(.active)
        input?.edited("Hello")
        // In the foreground again, the client also sends a ping.
        let back = await said().suffix(3).filter { $0 != .ping }
        #expect(back == [.state(.active), .typing("c42", true)])
        input?.disappeared()
        #expect(await said().suffix(2) == [.typing("c42", false), .leave("c42")])
        input?.edited("Late")
        #expect(await said().suffix(1) == [.leave("c42")], "an autocorrection, for example")
        input?.appeared()
        input?.edited("Back")
        #expect(await said().suffix(2) == [.join("c42", presence: false), .typing("c42", true)])
        input = nil
        #expect(await said().suffix(2) == [.typing("c42", false), .leave("c42")])
    }

    @Test("conversations are independent")
    func independent() async throws {
        let connection = try await connected()
        let one = client.typingInput(in: "c1")
        let two = client.typingInput(in: "c2")
        one.edited("a")
        two.edited("b")
        await world.settle()
        one.send()
        await world.advance(by: .milliseconds(2900))
        #expect(connection.count { $0 == .typing("c1", true) } == 1)
        #expect(connection.count { $0 == .typing("c1", false) } == 1)
        #expect(connection.count { $0 == .typing("c2", true) } == 3)
        #expect(connection.count { $0 == .typing("c2", false) } == 0)
        await world.advance(by: .milliseconds(200))
        #expect(connection.messages.last == .typing("c2", false))
    }

    @Test("with two fields of one conversation, the user types while either of them does")
    func twoFields() async throws {
        let connection = try await connected()
        let one = client.typingInput(in: "c42")
        let two = client.typingInput(in: "c42")
        one.edited("a")
        two.edited("b")
        await world.settle()
        one.send()
        #expect(await one.sendConfirmed(), "there is nothing to stop while the other goes on")
        #expect(connection.count { $0 == .typing("c42", false) } == 0)
        two.send()
        #expect(await said().last == .typing("c42", false))
    }

    @Test("typing while disconnected is dropped; a reconnect sends the current state")
    func disconnected() async throws {
        let first = try await connected()
        let over = client.typingInput(in: "c1")
        over.edited("a")
        await world.settle()
        #expect(first.messages.last == .typing("c1", true))
        world.listen(.refuses)
        first.drop()
        await world.settle()
        over.send()
        let now = client.typingInput(in: "c2")
        for _ in 0..<20 { now.edited("b") }
        world.listen(.accepts)
        client.networkChanged()
        await world.settle()
        let second = world.connections[1]
        #expect(
            second.messages.dropFirst() == [
                .join("c1", presence: false), .join("c2", presence: false), .typing("c2", true),
            ])
        now.edited("bb")
        await world.settle()
        #expect(second.count(\.isTyping) == 1)
    }

    @Test("edits never wait: ten thousand return while the client's loop is blocked")
    func waitsOnNothing() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url) { $0.typing = try! TypingSettings(debounce: .zero) }
        client.connect()
        try await client.isConnected()
        let input = client.typingInput(in: "c42")
        let gate = DispatchSemaphore(value: 0)
        client.engine.run { _ in gate.wait() }
        for _ in 0..<10_000 { input.edited("Hello") }
        gate.signal()
        try await worker.connection().hears(.join("c42", presence: false), .typing("c42", true))
    }

    @Test("the device's state follows the application, and is not sent twice")
    func deviceState() async throws {
        let connection = try await connected()
        for phase in [AppPhase.inactive, .active, .background, .inactive, .background, .active] {
            client.setPhase(phase)
        }
        client.setState(.idle)
        client.inputHappened()
        await world.settle()
        client.setState(.background)
        #expect(await said().last == .state(.background))
        client.setState(.background)
        client.setPhase(.background)
        client.setPhase(.active)
        #expect(await said().last { $0 != .ping } == .state(.active))
        #expect(connection.count { $0 == .state(.background) } <= 2)
    }
}
