// What a client's wire must do, over real sockets, on each network.

import Foundation
import NIOConcurrencyHelpers
import NIOWebSocket
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient
@testable import RollcallTesting

@Suite(.timeLimit(.minutes(3))) struct WireTests {
    @Test("a client sends hello with its token, device and state, and learns its user", arguments: TestNetwork.allCases)
    func hello(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url, over: network)
        #expect(client.connection.latest == .idle)
        #expect(client.serverTime == nil)
        client.connect()
        try await client.isConnected()
        let expected = Session(user: "alice", device: "phone", session: "s1", worker: "w1.abc")
        #expect(client.connection.latest == .connected(expected))
        #expect(worker.connections[0].messages == [.hello(.init(token: "alice", device: "phone", state: .active))])
        let serverTime = try #require(client.serverTime)
        #expect((0..<60_000).contains(serverTime.milliseconds - 1_753_600_000_000))
    }

    /// Regression: such an option crashed the client when it connected.
    @Test("durations beyond what an event loop can express are long waits", arguments: TestNetwork.allCases)
    func longWaits(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker()
        let longest = Duration.seconds(Int64.max)
        let client = RollcallClient.phone(worker.url, over: network) {
            ($0.connectTimeout, $0.longestPause, $0.idleAfter) = (longest, longest, longest)
        }
        client.inputHappened()
        client.connect()
        try await client.isConnected()
        #expect(await client.currentPresence(of: "bob", within: longest)?.status == .away)
        #expect(await client.typingInput(in: "c42").sendConfirmed(within: longest))
    }

    @Test("however the connection ends, the client reconnects", arguments: TestNetwork.allCases)
    func comesBack(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url, over: network)
        client.connect()
        let ends: [@Sendable (ScriptedWorker.Connection) -> Void] = [
            { $0.drop() }, { $0.close(.draining) }, { $0.close(.normal) }, { $0.close(.tooBig) },
            { $0.send(opcode: .connectionClose, []) },
            { $0.send(opcode: WebSocketOpcode(encodedWebSocketOpcode: 5)!, [1]) },
        ]
        for (number, end) in ends.enumerated() {
            try await client.isConnected()
            end(try await worker.connection(number))
            try await eventually("connection \(number + 1)") { worker.connections.count == number + 2 }
        }
        try await client.isConnected()
        #expect(worker.connections.filter(\.isOpen).count == 1)
    }

    @Test("a worker that is down or refuses is retried until it accepts", arguments: TestNetwork.allCases)
    func unreachable(over network: TestNetwork) async throws {
        let port = try freePort()
        let client = RollcallClient.phone("ws://localhost:\(port)/v1/connect", over: network)
        let states = Collected(client.connection)
        client.connect()
        try await eventually("it waits") { states.values.contains { $0.waits(because: .unreachable) } }
        let worker = try await ScriptedWorker(port: port, refusesUpgrades: true)
        try await eventually("it asks, and is refused") { worker.attempts >= 3 }
        worker.refuseUpgrades(false)
        try await client.isConnected()
    }

    @Test("the reason of a refused handshake is available", arguments: TestNetwork.allCases)
    func refusalReason(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker()
        worker.refuseUpgrades(true)
        let client = RollcallClient.phone(worker.url, over: network)
        client.connect()
        try await eventually("it waits") {
            guard case .waiting(_, let error) = client.connection.latest else { return false }
            return error.description.contains("503")
        }
    }

    /// Regression: a client reconnected without end if a member list had more than 4 MiB.
    @Test("messages of several megabytes are read, in one frame and in several", arguments: TestNetwork.allCases)
    func largeMessages(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url, over: network)
        let typing = Collected(client.typing(in: "c42"))
        client.connect()
        let connection = try await worker.connection()
        try await connection.hears(.join("c42", presence: false))
        func message(_ count: Int) -> String {
            #"{"type":"typing","conversation":"c42","users":[],"count":\#(count),"later":""#
                + String(repeating: "x", count: (4 << 20) + 1) + #""}"#
        }
        connection.send(text: message(1))
        // On a busy machine the typing may end, as nothing repeats it, before this test looks again.
        try await eventually("the first is read") { typing.values.contains { $0.count == 1 } }
        let bytes = Array(message(2).utf8)
        connection.send(opcode: .text, fin: false, Array(bytes[..<3_000_000]))
        connection.send(opcode: .continuation, Array(bytes[3_000_000...]))
        try await eventually("the second is read") { typing.values.contains { $0.count == 2 } }
        #expect(worker.connections.count == 1)
    }

    @Test("releasing a client sends goodbye", arguments: TestNetwork.allCases)
    func letGo(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker()
        weak var weakClient: RollcallClient?
        do {
            let client = RollcallClient.phone(worker.url, over: network)
            weakClient = client
            client.connect()
            try await client.isConnected()
        }
        try await worker.connection().hears(.goodbye)
        try await eventually("the connection ends") { !worker.connections[0].isOpen }
        #expect(weakClient == nil)
    }

    @Test(
        "closing sends goodbye, ends every stream and resumes all waiting calls, for good",
        arguments: TestNetwork.allCases)
    func close(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker { request, connection in
            if case .get = request.message { return }
            connection.behave(request)
        }
        let client = RollcallClient.phone(worker.url, over: network)
        let states = Collected(client.connection)
        let typing = Collected(client.typing(in: "c42"))
        client.connect()
        try await client.isConnected()
        async let unanswered = client.currentPresence(of: ["bob"], within: .seconds(60))
        try await worker.connection().hears(.get(["bob"]))
        let took = await ContinuousClock().measure { await client.shutdown() }
        // On a machine so busy that nothing is sent for two seconds, it waits no longer.
        if took < .seconds(2) { #expect(worker.connections[0].messages.last == .goodbye) }
        try await worker.connection().hears(.goodbye)
        let answer = await unanswered
        #expect(answer.isEmpty)
        try await eventually("the streams end") { states.hasEnded && typing.hasEnded }
        #expect(states.values.last == .closed)
        await client.shutdown()
        client.connect()
        for await _ in client.presence(of: "bob") { Issue.record("a closed client shows nothing") }
        #expect(client.connection.latest == .closed)
        #expect(worker.connections.count == 1)
    }

    @Test("the end is the last event and has the worker's code and sentence", arguments: TestNetwork.allCases)
    func end(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker()
        for (number, code) in [UInt16(1000), 1011, 3000, 4000, 4002, 4100, 4104, 4199, 4999].enumerated() {
            let owner = try Owner(of: worker, over: network)
            try await eventually("open") { worker.connections.count == number + 1 && owner.events.count == 1 }
            let connection = worker.connections[number]
            connection.send(.ack(.number(1)))
            connection.send(opcode: .connectionClose, [UInt8(code >> 8), UInt8(code & 255)] + Array("so".utf8))
            connection.send(.ack(.number(2)))
            try await eventually("ended") { owner.events.contains("closed \(code) so") }
            try await eventually("nothing more can come") { !connection.isOpen }
            await owner.turn()
            #expect(owner.events == ["opened", "received", "closed \(code) so"])
        }
    }

    @Test("a redirect is not followed: the token must not go where it leads", arguments: TestNetwork.allCases)
    func redirect(over network: TestNetwork) async throws {
        let (worker, other) = (try await ScriptedWorker(), try await ScriptedWorker())
        worker.redirect(to: other.url)
        let client = RollcallClient.phone(worker.url, over: network)
        client.connect()
        try await eventually("it waits") {
            guard case .waiting(_, let error) = client.connection.latest else { return false }
            return error.description.contains("302")
        }
        #expect(other.attempts == 0)
    }

    @Test("a close that the worker does not answer takes two seconds", arguments: TestNetwork.allCases)
    func silentClose(over network: TestNetwork) async throws {
        let worker = try await ScriptedWorker { request, connection in
            if request.message != .goodbye { connection.behave(request) }
        }
        worker.answersClose = false
        let client = RollcallClient.phone(worker.url, over: network)
        client.connect()
        try await client.isConnected()
        let began = ContinuousClock.now
        await client.shutdown()
        #expect(ContinuousClock.now - began >= .milliseconds(1900))
        #expect(worker.connections[0].messages.last == .goodbye && worker.connections[0].closeCode == .normal)
        try await eventually("it is gone") { !worker.connections[0].isOpen }
    }
}

/// Notes what a wire reports.
private final class Owner: WireOwner, @unchecked Sendable {
    private let noted = NIOLockedValueBox<[String]>([])
    private let network: Network
    private var wire: (any Wire)?

    init(of worker: ScriptedWorker, over network: TestNetwork) throws {
        self.network = network.network
        let (dial, address) = (try self.network.dial.get(), try #require(WorkerAddress(worker.url)))
        self.network.environment.run { self.wire = dial(address, self) }
    }

    /// Waits until what is queued has happened.
    func turn() async { await withCheckedContinuation { done in network.environment.run { done.resume() } } }

    var events: [String] { noted.withLockedValue { $0 } }

    func wireOpened(_ wire: any Wire) { note("opened") }
    func wireHeard(_ wire: any Wire) {}
    func wireReceived(_ wire: any Wire, _ message: ServerMessage) { note("received") }

    func wireEnded(_ wire: any Wire, how ending: Ending) {
        if case .closed(let code, let sentence) = ending {
            note("closed \(code.rawValue) \(sentence)")
        } else {
            note("\(ending)")
        }
    }

    private func note(_ event: String) { noted.withLockedValue { $0.append(event) } }
}
