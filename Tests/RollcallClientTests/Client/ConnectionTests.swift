// The life of a connection, over real sockets.

import Foundation
import NIOConcurrencyHelpers
import NIOWebSocket
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient
@testable import RollcallTesting

@Suite struct ConnectionTests {
    @Test("the first hello has the state that the application set before it")
    func helloState() async throws {
        let worker = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
        client.setPhase(.background)
        client.connect()
        let connection = try await worker.connection()
        #expect(connection.messages == [.hello(.init(token: "alice", device: "phone", state: .background))])
    }

    @Test("the client reconnects where the worker says")
    func goodbye() async throws {
        let worker = try await ScriptedWorker()
        let other = try await ScriptedWorker()
        let client = RollcallClient.phone(worker.url)
        client.connect()
        try await client.isConnected()
        let connection = try await worker.connection()
        let start = ContinuousClock.now
        connection.send(.goodbye(.init(reason: .draining, reconnect: true, after: 2000, to: ByteString(other.url))))
        connection.close(.draining)
        _ = try await other.connection()
        #expect(ContinuousClock.now - start >= .milliseconds(1990), "it waits as asked")
        try await client.isConnected()
        #expect(worker.connections.count == 1)
        try await other.kill()
        try await eventually("it goes home again") { worker.connections.count == 2 }
    }

    @Test(
        "a refusal is reported with its code, and the next connect tries again at once",
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

    @Test("an expired token is not sent: a new one is fetched first")
    func expiredWhileAway() async throws {
        let world = TestWorld()
        let asked = NIOLockedValueBox(0)
        let client = world.client(token: {
            asked.withLockedValue { $0 += 1 }
            return jwt(expires: world.serverTime.advanced(by: .seconds(3600)))
        })
        client.connect()
        await world.settle()
        try await client.isConnected()
        world.listen(.refuses)
        world.connection.drop()
        await world.advance(by: .seconds(10))
        #expect(asked.withLockedValue { $0 } == 1, "the token is good for an hour")
        world.sleep(for: .seconds(7200))
        world.listen(.accepts)
        client.networkChanged()
        await world.settle()
        try await client.isConnected()
        #expect(asked.withLockedValue { $0 } == 2)
        let hellos = world.connections.compactMap { connection -> ByteString? in
            if case .hello(let hello)? = connection.messages.first { hello.token } else { nil }
        }
        #expect(Set(hellos).count == 2, "none is said that has expired")
    }

    @Test("a token that expired before a worker could be reached is fetched again")
    func expiredTwice() async throws {
        let good = NIOLockedValueBox("none")
        let world = TestWorld { request, connection in
            guard case .hello(let hello) = request.message else { return connection.behave(request) }
            hello.token == ByteString(good.withLockedValue { $0 })
                ? connection.behave(request) : connection.close(.tokenExpired)
        }
        let asked = NIOLockedValueBox(0)
        let client = world.client(token: {
            // The network is lost while the second token is fetched.
            let number = asked.withLockedValue {
                $0 += 1
                return $0
            }
            if number == 2 { world.listen(.refuses) }
            return "token \(number)"
        })
        client.connect()
        await world.advance(by: .seconds(10))
        #expect(asked.withLockedValue { $0 } == 2)
        world.sleep(for: .seconds(7200))
        good.withLockedValue { $0 = "token 3" }
        world.listen(.accepts)
        await world.advance(by: .seconds(3))
        #expect(client.connection.latest.isConnected)
        #expect(asked.withLockedValue { $0 } == 3)
    }

    /// A token callback that waits until the test answers.
    private final class Desk: Sendable {
        private let waiting = NIOLockedValueBox<[CheckedContinuation<String, Never>]>([])
        var asked: Int { waiting.withLockedValue { $0.count } }

        func ask() async -> String {
            await withCheckedContinuation { asking in waiting.withLockedValue { $0.append(asking) } }
        }

        func answer(_ number: Int, _ token: String) { waiting.withLockedValue { $0[number] }.resume(returning: token) }
    }

    @Test(
        "one call of the token callback serves all who wait, at most two wait, and an answer counts whenever it comes")
    func tokenThatComesLate() async throws {
        let world = TestWorld(isAppAwaited: false)
        let desk = Desk()
        let client = world.client(token: { await desk.ask() })
        client.connect()
        try await eventually("it is asked") { desk.asked == 1 }
        await world.advance(by: .milliseconds(9900))
        client.networkChanged()
        await world.settle()
        #expect(client.connection.latest == .connecting)
        await world.advance(by: .milliseconds(100))
        client.networkChanged()
        try await eventually("after ten seconds, a network is reason to ask again") { desk.asked == 2 }
        for _ in 0..<20 {
            await world.advance(by: .seconds(10))
            client.networkChanged()
            client.connect()
        }
        try await Self.turns(of: world)
        #expect(desk.asked == 2 && client.connection.latest == .connecting && world.attempts == 0)
        desk.answer(0, "alice")
        try await eventually("it is connected") {
            await world.settle()
            return client.connection.latest.isConnected
        }
        #expect(world.connection.messages.first == .hello(.init(token: "alice", device: "phone", state: .active)))
        desk.answer(1, "alice")
        try await Self.turns(of: world)
        #expect(world.attempts == 1)
    }

    @Test("what the token callback answers after a disconnect counts no more")
    func tokenOfBefore() async throws {
        let world = TestWorld(isAppAwaited: false)
        let desk = Desk()
        let client = world.client(token: { await desk.ask() })
        client.connect()
        try await eventually("it is asked") { desk.asked == 1 }
        client.disconnect()
        client.connect()
        try await eventually("it is asked anew") { desk.asked == 2 }
        desk.answer(0, "another")
        try await Self.turns(of: world)
        #expect(world.attempts == 0)
        desk.answer(1, "alice")
        try await eventually("it is connected") {
            await world.settle()
            return client.connection.latest.isConnected
        }
        #expect(world.connection.messages.first == .hello(.init(token: "alice", device: "phone", state: .active)))
    }

    @Test("a callback for a new token that does not return is called again beside it, and the late answer counts")
    func refreshThatComesLate() async throws {
        let world = TestWorld(isAppAwaited: false)
        let desk = Desk()
        let client = world.client(token: { await desk.ask() })
        client.connect()
        try await eventually("it is asked") { desk.asked == 1 }
        desk.answer(0, jwt(expires: world.serverTime.advanced(by: .seconds(3600))))
        try await eventually("it is connected") {
            await world.settle()
            return client.connection.latest.isConnected
        }
        await world.advance(by: .seconds(3600 - 119))
        await world.advance(by: .seconds(60))
        try await eventually("a fresh one is asked for") { desk.asked == 2 }
        await world.advance(by: .seconds(57))
        let fresh = jwt(expires: world.serverTime.advanced(by: .seconds(3600)))
        desk.answer(1, fresh)
        try await eventually("it is said") {
            await world.settle()
            return world.connection.messages.contains(.token(ByteString(fresh)))
        }
        for late in 2..<desk.asked { desk.answer(late, "late") }
        try await Self.turns(of: world)
        #expect(!world.connection.messages.contains(.token("late")))
        #expect(world.connections.count == 1)
    }

    @Test("the token callback learns why it is called, and a user who is signed out is so at once")
    func whyAsked() async throws {
        let world = TestWorld()
        let asked = NIOLockedValueBox<[TokenRequest]>([])
        let client = world.client(token: { (request: TokenRequest) in
            let number = asked.withLockedValue {
                $0.append(request)
                return $0.count
            }
            if number == 4 { throw RollcallError(.badToken, "signed out") }
            return jwt(expires: world.serverTime.advanced(by: .seconds(number == 1 ? 600 : 1200)))
        })
        client.connect()
        await world.settle()
        await world.advance(by: .seconds(590))
        world.connection.close(.tokenExpired)
        await world.advance(by: .seconds(1))
        #expect(
            asked.withLockedValue { $0.map(\.reason) } == [.first, .renewal, .refused]
                && asked.withLockedValue { $0.last?.code } == .tokenExpired)
        await world.advance(by: .seconds(1200))
        guard case .failed(let error) = client.connection.latest else { throw Unexpected() }
        #expect(error.code == .badToken && world.connection.messages.last == .goodbye)
        await world.advance(by: .seconds(3600))
        client.networkChanged()
        await world.settle()
        #expect(asked.withLockedValue { $0.count } == 4)
    }

    private struct Unexpected: Error {}

    @Test("a callback that reached nobody is called again as soon as a connection would be tried")
    func unreachableApp() async throws {
        for error in [URLError(.notConnectedToInternet), RollcallError(.unreachable, "no network")] as [any Error] {
            let world = TestWorld()
            let isDown = NIOLockedValueBox(true)
            let client = world.client(token: {
                if isDown.withLockedValue({ $0 }) { throw error }
                return "alice"
            })
            client.connect()
            await world.settle()
            await world.advance(by: .seconds(20))
            isDown.withLockedValue { $0 = false }
            await world.advance(by: .seconds(2))
            #expect(client.connection.latest.isConnected)
        }
    }

    /// Regression: a page of Alice went on as Bob, who had signed in in another tab.
    @Test("a token of another user ends the session, and what was shown is empty; only disconnect forgets the user")
    func anotherUser() async throws {
        let user = NIOLockedValueBox("alice")
        let world = TestWorld { request, connection in
            guard case .hello(let hello) = request.message, let last = hello.user?.text,
                last != user.withLockedValue({ $0 })
            else { return connection.behave(request) }
            connection.close(.anotherUser)
        }
        let client = world.client(token: { user.withLockedValue { $0 } })
        let bob = Collected(client.presence(of: "bob"))
        client.connect()
        await world.settle()
        world.connection.send(
            .presence([Presence(user: "bob", status: .online, lastSeen: nil, updatedAt: nil, version: 9)]))
        try await bob.latest("bob is online") { $0.status == .online }
        user.withLockedValue { $0 = "bob" }
        world.connection.close(.tokenExpired)
        await world.advance(by: .seconds(2))
        try await bob.latest("nobody is known") { $0.version == 0 }
        guard case .failed(let error) = client.connection.latest else { throw Unexpected() }
        #expect(error.code == .anotherUser && error.retryIn == nil)
        client.connect()
        await world.settle()
        #expect(!client.connection.latest.isConnected)
        client.disconnect()
        client.connect()
        await world.settle()
        #expect(client.connection.latest.isConnected)
    }

    /// Regression: the refused token was used for the next connection, which then ended for good.
    @Test("a fresh token is used once the worker has taken it; refused for good, the app is asked for another")
    func refusedRenewal() async throws {
        let refusals = NIOLockedValueBox(1)
        let world = TestWorld { request, connection in
            guard case .token = request.message, let id = request.id,
                refusals.withLockedValue({
                    $0 -= 1
                    return $0 >= 0
                })
            else { return connection.behave(request) }
            connection.send(.error(.init(code: .badRequest, id: id, message: "the token is not accepted: a rule")))
        }
        let start = world.serverTime
        let given = NIOLockedValueBox<[String]>([])
        let client = world.client(token: {
            given.withLockedValue {
                $0.append(jwt(expires: start.advanced(by: .seconds(100 * ($0.count + 1)))))
                return $0[$0.count - 1]
            }
        })
        client.connect()
        await world.settle()
        await world.advance(by: .seconds(90))
        let tokens = given.withLockedValue { $0.map { ByteString($0) } }
        #expect(tokens.count == 3, "one to begin with, one that was refused, and another")
        let sent = world.connection.received.compactMap { request -> ByteString? in
            if case .token(let token) = request.message { token } else { nil }
        }
        #expect(sent == Array(tokens.dropFirst()))
        #expect(client.connection.latest.isConnected && world.connections.count == 1)
        world.connection.drop()
        await world.advance(by: .seconds(3))
        #expect(
            world.connection.received.first?.message
                == .hello(.init(token: tokens[2], device: "phone", state: .active, user: "alice"))
        )
    }

    /// Regression: it counted as one. With a small `message_rate` and short tokens, the worker closed the session.
    @Test("a fresh token counts as ten messages")
    func tokenCost() async throws {
        let limits = ServerMessage.Limits(
            watchedUsers: 2000, joinedConversations: 500, messageBytes: 65_536, messageRate: 2, messageBurst: 16)
        let world = TestWorld { $1.behave($0, limits: limits) }
        let client = world.client(token: { jwt(expires: world.serverTime.advanced(by: .seconds(20))) })
        client.connect()
        await world.settle()
        try await client.isConnected()
        while !world.connection.messages.contains(where: \.isToken), world.serverTime.milliseconds < 1_753_600_020_000 {
            await world.advance(by: .milliseconds(100))
        }
        let before = world.connection.messages.count
        for number in 0..<8 {
            client.setState(number.isMultiple(of: 2) ? .idle : .active)
            await world.settle()
        }
        #expect(
            world.connection.messages.count == before + 1, "twelve are allowed at once, of which one is kept for a ping"
        )
        await world.advance(by: .seconds(1))
        #expect(world.connection.messages.count == before + 2)
    }

    /// Waits long enough for an answer to be processed, if there is one.
    private static func turns(of world: TestWorld) async throws {
        for _ in 0..<50 {
            await world.settle()
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test("malformed and unknown messages are ignored, and the connection stays open")
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

    @Test("a silent worker is abandoned; one that only pings is not")
    func silence() async throws {
        let world = TestWorld()
        let client = try await world.connected()
        let states = Collected(client.connection)
        await world.advance(by: .seconds(600))
        #expect(world.connections.count == 1)
        world.connection.die()
        await world.advance(by: .seconds(29))
        #expect(client.connection.latest.isConnected)
        // Two ping intervals after the last ping, one for the answer, and the first pause.
        await world.advance(by: .seconds(3))
        #expect(world.connections.count == 2)
        try await eventually("it has said why") { states.values.contains { $0.waits(because: .connectionLost) } }
    }

    @Test("a worker that does not answer for long, but pings, is not abandoned")
    func held() async throws {
        let isHeld = NIOLockedValueBox(false)
        let world = TestWorld { request, connection in
            if !isHeld.withLockedValue({ $0 }) { connection.behave(request) }
        }
        let client = try await world.connected()
        // Somebody's "last seen" is shown, for which the client asks for the time.
        let bob = Collected(client.presence(of: "bob"))
        await world.settle()
        world.connection.send(.presence([.of("bob", .offline, lastSeen: 1)]))
        await world.settle()
        isHeld.withLockedValue { $0 = true }
        let carol = Collected(client.presence(of: "carol"))
        client.setState(.idle)
        await world.advance(by: .seconds(300))
        #expect(world.connections.count == 1)
        #expect(world.connection.count { $0 != .ping } == 4, "what it has not answered is not said again")
        #expect(world.connection.count { $0 == .ping } == 1, "nor is it asked for its time again")
        for request in world.connection.received.dropFirst() { world.connection.behave(request) }
        await world.settle()
        try await carol.latest("carol is known") { $0.status == .offline }
        _ = bob
    }

    @Test("a worker that accepts the connection but sends no welcome is abandoned after a while")
    func neverWelcomed() async throws {
        let world = TestWorld { _, _ in }
        let client = world.client { $0.longestPause = .zero }
        client.connect()
        await world.advance(by: .milliseconds(9900))
        #expect(world.connections.count == 1)
        // The limit doubles each time that it has passed, up to 40 s: the network may be slow.
        for (number, seconds) in [20, 40, 40, 40].enumerated() {
            await world.advance(by: .milliseconds(seconds * 1000))
            #expect(world.connections.count == number + 2)
        }
        withExtendedLifetime(client) {}
    }

    @Test("a network change ends the pause before a retry, or makes the client ping the worker")
    func networkChanged() async throws {
        let world = TestWorld()
        world.listen(.refuses)
        let client = world.client {
            $0.longestPause = .seconds(3600)
        }
        client.connect()
        await world.settle()
        #expect(client.connection.latest.waits(because: .unreachable))
        world.listen(.accepts)
        client.networkChanged()
        await world.settle()
        #expect(client.connection.latest.isConnected)
        client.networkChanged()
        await world.settle()
        #expect(world.connection.messages.last == .ping)
    }

    @Test("a network change restarts an attempt over a dead path, with or without a hello", arguments: [true, false])
    func networkChangedWhileConnecting(isOpened: Bool) async throws {
        let isSilent = NIOLockedValueBox(true)
        let world = TestWorld { request, connection in
            if !isSilent.withLockedValue({ $0 }) { connection.behave(request) }
        }
        world.listen(isOpened ? .accepts : .isSilent)
        let client = world.client()
        let states = Collected(client.connection)
        client.connect()
        await world.advance(by: .seconds(2))
        #expect(world.attempts == 1)
        world.listen(.accepts)
        isSilent.withLockedValue { $0 = false }
        client.setPhase(.background)
        client.setPhase(.active)
        await world.settle()
        #expect(world.attempts == 2 && client.connection.latest.isConnected)
        #expect(!states.values.contains { $0.waits(because: .unreachable) }, "nothing failed")
    }

    @Test("network changes in a loop restart an attempt once, after 2 s, and do not prevent it")
    func networkChangesInALoop() async throws {
        let world = TestWorld()
        world.listen(.isSilent)
        let client = world.client()
        client.connect()
        await world.settle()
        for step in 1...150 {
            await world.advance(by: .milliseconds(50))
            client.networkChanged()
            await world.settle()
            let time = Duration.milliseconds(50) * step
            #expect(world.attempts == (time < .seconds(2) ? 1 : 2), "after \(time)")
        }
        withExtendedLifetime(client) {}
    }

}

/// An unsigned token: clients cannot check signatures.
private func jwt(expires: Timestamp) -> String {
    let claims = Data(#"{"sub":"alice","exp":\#(expires.milliseconds / 1000)}"#.utf8).base64EncodedString()
    let body = claims.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    return "e30.\(body).c2ln"
}

extension ClientMessage {
    fileprivate var isToken: Bool { if case .token = self { true } else { false } }
}

extension ConnectionState {
    func waits(because code: RollcallError.Code) -> Bool {
        if case .waiting(_, let error) = self { error.code == code } else { false }
    }
}
