// The connection's life, over real sockets.

import NIOConcurrencyHelpers
import NIOWebSocket
import RollcallModel
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct ConnectionTests {
    @Test("a client says hello with its token, device and state, and is told who it is")
    func hello() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
        #expect(client.connectionState == .idle)
        #expect(client.serverTime == nil)
        client.connect()
        try await client.isConnected()
        let expected = Session(user: "alice", device: "phone", session: "s1", worker: "w1.abc")
        #expect(client.connectionState == .connected(expected))
        #expect(worker.connections[0].messages == [.hello(.init(token: "alice", device: "phone", state: .active))])
        let serverTime = try #require(client.serverTime)
        #expect((0..<60_000).contains(serverTime.milliseconds - 1_753_600_000_000))
    }

    @Test("the first hello says what the app said before it")
    func helloState() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
        client.setPhase(.background)
        client.connect()
        let connection = try await worker.connection()
        #expect(connection.messages == [.hello(.init(token: "alice", device: "phone", state: .background))])
    }

    @Test("C2: whatever ends the connection, the client comes back")
    func comesBack() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
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

    @Test("C2: a worker that is not there yet, or does not want to, is asked again until it does")
    func unreachable() async throws {
        let port = try freePort()
        let client = RollcallClient.phone("ws://localhost:\(port)/v1/connect")
        let states = Collected(client.connection)
        client.connect()
        try await eventually("it waits") { states.values.contains { $0.waits(because: .unreachable) } }
        let worker = try await ScriptedWorker(port: port)
        worker.refuseUpgrades(true)
        try await eventually("it asks, and is refused") { worker.attempts >= 3 }
        worker.refuseUpgrades(false)
        try await client.isConnected()
    }

    @Test("the reason of a refused handshake can be read")
    func refusalReason() async throws {
        let worker = try await ScriptedWorker()
        worker.refuseUpgrades(true)
        let client = RollcallClient.phone(worker.url)
        client.connect()
        try await eventually("it waits") {
            guard case .waiting(_, let error) = client.connectionState else { return false }
            return error.description.contains("503")
        }
    }

    @Test("C2: the worker says when and where to come back")
    func goodbye() async throws {
        let worker = try await ScriptedWorker()
        let other = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
        client.connect()
        try await client.isConnected()
        let connection = try await worker.connection()
        let start = ContinuousClock.now
        connection.send(.goodbye(.init(reason: .draining, reconnect: true, after: 1500, to: other.url)))
        connection.close(.draining)
        try await eventually("it waits as asked") { client.connectionState.waits(because: .asked) }
        _ = try await other.connection()
        #expect(ContinuousClock.now - start >= .milliseconds(1500))
        try await client.isConnected()
        #expect(worker.connections.count == 1)
        try await other.kill()
        try await eventually("it goes home again") { worker.connections.count == 2 }
    }

    @Test(
        "C4: a mistake ends the trying, under its code, until somebody asks again",
        arguments: [(.badToken, .badToken), (.replaced, .replaced), (.badMessage, .protocolError)]
            as [(CloseCode, RollcallError.Code)])
    func mistakes(closed: CloseCode, code: RollcallError.Code) async throws {
        let worker = try await ScriptedWorker { request, connection in
            if case .hello(let hello) = request.message, hello.token == "bad" { return connection.close(closed) }
            connection.behave(request)
        }
        let token = NIOLockedValueBox("bad")
        let client = RollcallClient.phone(worker.url, token: { token.withLockedValue { $0 } })
        client.connect()
        #expect(try await client.hasFailed().code == code)
        client.networkChanged()
        _ = await client.inspect { _ in }
        #expect(worker.attempts == 1)
        token.withLockedValue { $0 = "good" }
        client.connect()
        try await client.isConnected()
    }

    @Test("C2: an expired token is fetched anew, once, and the client goes on")
    func expiredToken() async throws {
        let worker = try await ScriptedWorker { request, connection in
            guard case .hello(let hello) = request.message else { return }
            hello.token == "token 1" ? connection.behave(request) : connection.close(.tokenExpired)
        }
        let asked = NIOLockedValueBox(0)
        let client = RollcallClient.phone(
            worker.url,
            token: {
                asked.withLockedValue {
                    $0 += 1
                    return "token \($0 - 1)"
                }
            })
        client.connect()
        try await client.isConnected()
        #expect(asked.withLockedValue { $0 } == 2)
        worker.connections[1].drop()
        try await eventually("it comes back with the same token") { worker.connections.count == 3 }
        try await client.isConnected()
        #expect(asked.withLockedValue { $0 } == 2)
        worker.connections[2].close(.tokenExpired)
        #expect(try await client.hasFailed().code == .tokenExpired, "token 2 and what follows are expired too")
        #expect(asked.withLockedValue { $0 } == 3)
    }

    @Test("a token callback that throws is asked again; one that says it is a mistake is not")
    func tokenCallback() async throws {
        let worker = try await ScriptedWorker()
        let asked = NIOLockedValueBox(0)
        struct NoNetwork: Error {}
        let client = RollcallClient.phone(
            worker.url,
            token: {
                if asked.withLockedValue({
                    $0 += 1; return $0
                }) < 3 {
                    throw NoNetwork()
                }
                return "alice"
            })
        client.connect()
        try await client.isConnected()
        let signedOut = RollcallError(.badToken, "signed out")
        let other = RollcallClient.phone(worker.url, token: { throw signedOut })
        other.connect()
        #expect(try await other.hasFailed() == signedOut)
    }

    @Test("C4: a URL that is none is a mistake, told by the state and thrown by run()")
    func invalidURL() async throws {
        let client = RollcallClient.phone("http://example.com")
        await #expect(throws: RollcallError.self) { try await client.run() }
        #expect(try await client.hasFailed().code == .invalidURL)
    }

    @Test("garbage and what is not known are skipped, on one and the same connection")
    func garbage() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
        let typing = Collected(client.typing(in: "c42"))
        client.connect()
        let connection = try await worker.connection()
        try await connection.hears(.join("c42", presence: false))
        for text in [
            "", "{", "[]", "nonsense", #"{"type":"fireworks"}"#, #"{"type":"typing"}"#, #"{"type":"ack","id":99}"#,
            #"{"type":"typing","conversation":"c42","users":"many","count":1}"#,
            #"{"type":"typing","conversation":"elsewhere","users":[],"count":3}"#,
            #"{"type":"error","code":"not_joined","message":"?","retry":false}"#,
            #"{"type":"removed","conversation":"elsewhere"}"#,
        ] { connection.send(text: text) }
        connection.send(opcode: .binary, [1, 2, 3])
        connection.send(opcode: .text, [0xFF, 0xFE])
        connection.send(opcode: .pong, [])
        let frame = Array(#"{"type":"typing","conversation":"c42","users":[{"user":"bob"}],"count":1}"#.utf8)
        connection.send(opcode: .text, fin: false, Array(frame[..<10]))
        connection.send(opcode: .ping, [7])
        connection.send(opcode: .continuation, Array(frame[10...]))
        try await typing.latest("bob types") { $0.count == 1 }
        #expect(worker.connections.count == 1)
        try await eventually("the ping is answered with its own data") { connection.otherFrames == [[7]] }
    }

    @Test("a worker that falls silent is left; one that only pings is not")
    func silence() async throws {
        let worker = try await ScriptedWorker { $1.behave($0, ping: 100) }
        let client = RollcallClient.phone(worker.url) { $0.silenceSlack = .milliseconds(1500) }
        let states = Collected(client.connection)
        client.connect()
        let connection = try await worker.connection()
        connection.ping(10, every: .milliseconds(300))
        try await eventually("ten pings are answered") { connection.otherFrames.count == 10 }
        #expect(worker.connections.count == 1, "that took longer than it waits in silence")
        try await eventually("it comes back") { worker.connections.count >= 2 }
        try await eventually("it has said why") { states.values.contains { $0.waits(because: .connectionLost) } }
    }

    @Test("a worker that takes the connection and never welcomes is given up after a while")
    func neverWelcomed() async throws {
        let worker = try await ScriptedWorker { _, _ in }
        let client = RollcallClient.phone(worker.url) { $0.connectTimeout = .milliseconds(100) }
        client.connect()
        try await eventually("it tries again") { worker.connections.count >= 3 }
    }

    @Test("a change of the network ends the waiting, or asks the worker whether it lives")
    func networkChanged() async throws {
        let worker = try await ScriptedWorker()
        worker.refuseUpgrades(true)
        let client = RollcallClient.phone(worker.url) {
            $0.firstPause = .seconds(3600)
            $0.longestPause = .seconds(3600)
        }
        client.connect()
        try await eventually("it waits") {
            if case .waiting = client.connectionState { true } else { false }
        }
        worker.refuseUpgrades(false)
        client.networkChanged()
        try await client.isConnected()
        client.networkChanged()
        try await worker.connection().hears(.ping)
    }

    @Test("C3: letting go of a client says goodbye")
    func letGo() async throws {
        let worker = try await ScriptedWorker()
        weak var weakClient: RollcallClient?
        do {
            let client = RollcallClient.phone(worker.url)
            weakClient = client
            client.connect()
            try await client.isConnected()
        }
        try await worker.connection().hears(.goodbye)
        try await eventually("the connection ends") { !worker.connections[0].isOpen }
        #expect(weakClient == nil)
    }

    @Test("closing says goodbye, ends every stream and answers whoever waits, for good")
    func close() async throws {
        let worker = try await ScriptedWorker { request, connection in
            if case .get = request.message { return }
            connection.behave(request)
        }
        let client = RollcallClient.phone(worker.url)
        let states = Collected(client.connection)
        let typing = Collected(client.typing(in: "c42"))
        client.connect()
        try await client.isConnected()
        async let unanswered = client.currentPresence(of: ["bob"], within: .seconds(60))
        try await worker.connection().hears(.get(["bob"]))
        await client.shutdown()
        #expect(worker.connections[0].messages.last == .goodbye)
        let answer = await unanswered
        #expect(answer.isEmpty)
        try await eventually("the streams end") { states.hasEnded && typing.hasEnded }
        #expect(states.values.last == .closed)
        await client.shutdown()
        client.connect()
        for await _ in client.presence(of: "bob") { Issue.record("a closed client shows nothing") }
        #expect(client.connectionState == .closed)
        #expect(worker.connections.count == 1)
    }

    @Test("run() lasts as long as its task")
    func run() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
        let running = Task { try await client.run() }
        try await client.isConnected()
        running.cancel()
        try await running.value
        #expect(worker.connections[0].messages.last == .goodbye)
        #expect(client.connectionState == .closed)
    }
}

extension ConnectionState {
    fileprivate func waits(because code: RollcallError.Code) -> Bool {
        if case .waiting(_, let error) = self { error.code == code } else { false }
    }
}
