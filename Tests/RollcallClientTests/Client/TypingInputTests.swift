// One's own typing, from the field to the wire.

import Dispatch
import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct TypingInputTests {
    private let worker: ScriptedWorker
    private let client: RollcallClient

    init() async throws {
        worker = try await ScriptedWorker()
        client = RollcallClient.phone(worker.url) {
            let inactivity = Duration.seconds(2)
            $0.typing = try! TypingSettings(
                debounce: .zero, throttle: .milliseconds(100), inactivity: inactivity)
        }
    }

    private func connected() async throws -> ScriptedWorker.Connection {
        client.connect()
        try await client.isConnected()
        return try await worker.connection()
    }

    @Test("T1, T3, T5: edits become signals, renewed until inactivity, in a conversation that is joined first")
    func edits() async throws {
        let connection = try await connected()
        let input = client.typingInput(in: "c42")
        input.edited("  \n\t ")
        input.edited("Hel")
        try await connection.hears(.join("c42", presence: false), .typing("c42", true), .typing("c42", true))
        try await connection.hears(.typing("c42", false))
        let signals = connection.count { $0 == .typing("c42", true) }
        #expect(signals <= 20, "once a throttle at most")
        input.edited("Hell")
        input.edited("   ")
        try await eventually("it stops again") { connection.count { $0 == .typing("c42", false) } == 2 }
    }

    @Test("T6: sending stops at once, and can be awaited until it is published")
    func send() async throws {
        let connection = try await connected()
        let input = client.typingInput(in: "c42")
        input.edited("Hello")
        try await connection.hears(.typing("c42", true))
        input.send()
        try await connection.hears(.typing("c42", true), .typing("c42", false))
        input.edited("Again")
        #expect(await input.sendConfirmed())
        let stop = try #require(connection.received.last)
        #expect(stop.message == .typing("c42", false))
        #expect(stop.id != nil)
    }

    @Test("T6: what could not be confirmed says so, and holds up nobody")
    func unconfirmed() async throws {
        let silent = try await ScriptedWorker { request, connection in
            if case .typing(_, false) = request.message { return }
            connection.behave(request)
        }
        let client = RollcallClient.phone(silent.url)
        let input = client.typingInput(in: "c42")
        #expect(await input.sendConfirmed() == false, "not connected")
        client.connect()
        try await client.isConnected()
        try await silent.connection().hears(.join("c42", presence: false))
        #expect(await input.sendConfirmed(within: .milliseconds(50)) == false, "not acknowledged")
        async let waiting = input.sendConfirmed(within: .seconds(60))
        try await eventually("it is sent") { silent.connections[0].count(\.isTyping) == 2 }
        silent.connections[0].drop()
        let confirmed = await waiting
        #expect(!confirmed, "the connection was lost")
        #expect(await client.inspect { $0.stops.isEmpty })
    }

    @Test("T7: leaving the view stops and leaves, background stops before it says so, letting go does too")
    func leaving() async throws {
        let connection = try await connected()
        var input: TypingInput? = client.typingInput(in: "c42")
        input?.edited("Hello")
        try await connection.hears(.typing("c42", true))
        client.setPhase(.background)
        try await connection.hears(.typing("c42", false), .state(.background))
        client.setPhase(.active)
        input?.edited("Hello")
        try await connection.hears(.state(.active), .typing("c42", true))
        input?.disappeared()
        try await connection.hears(.state(.active), .typing("c42", true), .typing("c42", false), .leave("c42"))
        input?.edited("Back")
        try await connection.hears(.leave("c42"), .join("c42", presence: false), .typing("c42", true))
        input = nil
        try await connection.hears(.leave("c42"), .typing("c42", true), .typing("c42", false), .leave("c42"))
    }

    @Test("T8: conversations are independent")
    func independent() async throws {
        let connection = try await connected()
        let one = client.typingInput(in: "c1")
        let two = client.typingInput(in: "c2")
        one.edited("a")
        two.edited("b")
        try await connection.hears(.typing("c1", true))
        try await connection.hears(.typing("c2", true))
        one.send()
        try await connection.hears(.typing("c1", false), .typing("c2", true))
        try await connection.hears(.typing("c2", false))
        #expect(connection.count { $0 == .typing("c1", false) } == 1)
    }

    @Test("two fields of one conversation: the user types while any of them does")
    func twoFields() async throws {
        let client = RollcallClient.phone(worker.url) {
            $0.typing = try! TypingSettings(debounce: .zero, inactivity: .seconds(60))
        }
        client.connect()
        try await client.isConnected()
        let connection = try await worker.connection()
        let one = client.typingInput(in: "c42")
        let two = client.typingInput(in: "c42")
        one.edited("a")
        two.edited("b")
        try await connection.hears(.typing("c42", true))
        one.send()
        #expect(await one.sendConfirmed(), "there is nothing to stop while the other goes on")
        #expect(connection.count { $0 == .typing("c42", false) } == 0)
        two.send()
        try await connection.hears(.typing("c42", false))
    }

    @Test("T9: typing while disconnected is dropped; on reconnect the state of now is sent")
    func disconnected() async throws {
        let first = try await connected()
        let over = client.typingInput(in: "c1")
        over.edited("a")
        try await first.hears(.typing("c1", true))
        worker.refuseUpgrades(true)
        first.drop()
        try await eventually("the client notices") { !client.connectionState.isConnected }
        over.send()
        let now = client.typingInput(in: "c2")
        for _ in 0..<20 { now.edited("b") }
        worker.refuseUpgrades(false)
        client.networkChanged()
        let second = try await worker.connection(1)
        try await second.hears(.join("c2", presence: false), .typing("c2", true))
        now.edited("bb")
        #expect(second.count { $0 == .typing("c1", true) || $0 == .typing("c1", false) } == 0)
        #expect(second.messages.prefix(4).count { $0 == .typing("c2", true) } == 1)
    }

    @Test("T10: an edit waits on nothing: ten thousand return while the client's loop stands still")
    func waitsOnNothing() async throws {
        let connection = try await connected()
        let input = client.typingInput(in: "c42")
        let gate = DispatchSemaphore(value: 0)
        client.engine.run { _ in gate.wait() }
        for _ in 0..<10_000 { input.edited("Hello") }
        gate.signal()
        try await connection.hears(.join("c42", presence: false), .typing("c42", true))
    }

    @Test("P3: the device's state follows the app, and nothing is said twice")
    func deviceState() async throws {
        let connection = try await connected()
        for phase in [AppPhase.inactive, .active, .background, .inactive, .background, .active] {
            client.setPhase(phase)
        }
        client.setState(.idle)
        client.inputHappened()
        try await eventually("the last word") { await client.inspect { !$0.agenda.hasMore } }
        client.setState(.background)
        try await connection.hears(.state(.background))
        client.setState(.background)
        client.setPhase(.background)
        client.setPhase(.active)
        try await connection.hears(.state(.background), .state(.active))
        #expect(connection.count { $0 == .state(.background) } <= 2)
    }
}
