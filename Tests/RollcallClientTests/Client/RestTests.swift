// A client that nobody looks at has no connection, and goes on as before; and what an idle one costs.

import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct RestTests {
    private let world = TestWorld { $1.behave($0) }

    private func resting() async throws -> RollcallClient {
        let client = try await world.connected()
        client.engine.run { $0.rests(after: .seconds(30)) }
        return client
    }

    @Test("disconnect says goodbye, and what is observed goes on with connect, with a fresh token")
    func disconnected() async throws {
        let tokens = NIOLockedValueBox(0)
        let client = world.client(token: {
            tokens.withLockedValue { $0 += 1 }
            return "alice"
        })
        client.connect()
        await world.settle()
        let (bob, states) = (Collected(client.presence(of: "bob")), Collected(client.connection))
        let input = client.typingInput(in: "c42")
        input.edited("x")
        await world.advance(by: .seconds(1))
        client.disconnect()
        await world.settle()
        #expect(world.connection.messages.last == .goodbye)
        #expect(world.connection.messages.suffix(2).first?.isStop == true, "the typing ends first")
        try await states.latest("it is idle") { $0 == .idle }
        await world.advance(by: .seconds(3600))
        client.networkChanged()
        await world.advance(by: .seconds(3600))
        #expect(world.connections.count == 1 && world.timers == 0)
        client.connect()
        await world.settle()
        #expect(world.connections.count == 2 && tokens.withLockedValue { $0 } == 2)
        world.connection.send(.presence([.of("bob", .online)]))
        try await bob.latest("bob is shown") { $0.status == .online }
        client.disconnect()
        client.close()
        client.connect()
        await world.advance(by: .seconds(60))
        #expect(world.connections.count == 2 && client.connection.latest == .closed)
    }

    @Test("after 30 s in the background a client disconnects, until its app is active")
    func rests() async throws {
        let client = try await resting()
        let bob = Collected(client.presence(of: "bob"))
        client.setPhase(.background)
        await world.advance(by: .seconds(29))
        #expect(client.connection.latest.isConnected)
        let ended = NIOLockedValueBox(0)
        client.engine.run { $0.restIsAwaited { ended.withLockedValue { $0 += 1 } } }
        await world.advance(by: .seconds(2))
        #expect(client.connection.latest == .idle && world.connection.messages.last == .goodbye)
        #expect(ended.withLockedValue { $0 } == 1, "iOS may suspend it now")
        await world.advance(by: .seconds(7200))
        #expect(world.connections.count == 1)
        client.setPhase(.active)
        await world.settle()
        #expect(world.connections.count == 2 && client.connection.latest.isConnected)
        #expect(world.connection.messages.contains { if case .watch = $0 { true } else { false } })
        _ = bob
    }

    @Test(
        "who returns in time keeps the connection; who runs out of time says goodbye at once; who disconnects decides")
    func decides() async throws {
        let client = try await resting()
        let ended = NIOLockedValueBox(0)
        for round in 1...2 {
            client.setPhase(.background)
            client.engine.run { $0.restIsAwaited { ended.withLockedValue { $0 += 1 } } }
            await world.advance(by: .seconds(20))
            client.setPhase(.active)
            await world.settle()
            #expect(ended.withLockedValue { $0 } == round)
        }
        #expect(world.connections.count == 1)
        client.setPhase(.background)
        client.engine.run { $0.rest() }
        await world.settle()
        #expect(client.connection.latest == .idle, "the system's time is over")
        // A push: the app connects in the background, and rests again.
        client.connect()
        await world.settle()
        #expect(client.connection.latest.isConnected)
        await world.advance(by: .seconds(31))
        #expect(client.connection.latest == .idle)
        client.disconnect()
        client.setPhase(.active)
        await world.advance(by: .seconds(60))
        #expect(client.connection.latest == .idle)
        client.engine.run { $0.rest() }
        await world.settle()
    }

    @Test(
        "an idle client asks for nothing but what it needs: 180 pings an hour, 60 more for last seen, and none at rest")
    func costs() async throws {
        func hour(_ client: RollcallClient) async -> Int {
            await world.advance(by: .seconds(60))
            let before = world.connections.reduce(0) { $0 + $1.messages.count }
            await world.advance(by: .seconds(3600))
            return world.connections.reduce(0) { $0 + $1.messages.count } - before
        }
        let client = try await resting()
        let quiet = await hour(client)
        let bob = Collected(client.presence(of: "bob"))
        world.connection.send(.presence([.of("bob", .online)]))
        let online = await hour(client)
        world.connection.send(.presence([.of("bob", .offline, lastSeen: 1, version: 2)]))
        let lastSeen = await hour(client)
        client.setPhase(.background)
        let atRest = await hour(client)
        print("messages an hour: quiet \(quiet), somebody online \(online), a last seen \(lastSeen), at rest \(atRest)")
        #expect(quiet <= 182 && online <= quiet + 1 && lastSeen <= quiet + 62 && atRest == 0)
        _ = bob
    }
}

extension ClientMessage {
    fileprivate var isStop: Bool {
        if case .typing(_, let typing, kind: _) = self { !typing } else { false }
    }
}
