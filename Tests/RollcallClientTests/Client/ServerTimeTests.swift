// The worker's time during a connection: Redis's clock may be set, and texts with times must follow.

import Dispatch
import NIOConcurrencyHelpers
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallClient

@Suite struct ServerTimeTests {
    /// Bob was last seen 90 seconds before the test's clock started.
    private let world = TestWorld { request, connection in
        if case .watch(let users) = request.message {
            connection.send(.presence(users.map { .of($0, .offline, lastSeen: 1_753_599_910_000) }))
        } else {
            connection.behave(request)
        }
    }

    private var pings: Int { world.connection.count { $0 == .ping } }

    @Test("a worker is asked for its time once a minute, only while presence is observed in the foreground")
    func asked() async throws {
        let client = try await world.connected()
        await world.advance(by: .seconds(600))
        #expect(pings == 0)
        let bob = Collected(client.presence(of: "bob"))
        await world.advance(by: .seconds(600))
        #expect((9...11).contains(pings))
        client.setPhase(.background)
        let asked = pings
        await world.advance(by: .seconds(600))
        #expect(pings == asked)
        client.setPhase(.active)
        await world.advance(by: .seconds(600))
        #expect((9...11).contains(pings - asked))
        bob.cancel()
        try await eventually("it ends") { bob.hasEnded }
        await world.settle()
        let last = pings
        await world.advance(by: .seconds(600))
        #expect(pings == last)
        #expect(world.connections.count == 1)
    }

    @Test("the time follows a clock that is set, in either direction, within a minute", arguments: [3, -3])
    func set(hours: Int) async throws {
        let client = try await world.connected()
        let bob = Collected(client.presence(of: "bob"))
        await world.advance(by: .seconds(30))
        world.setClock(by: .seconds(3600 * hours))
        await world.advance(by: .seconds(61))
        #expect(client.serverTime == world.serverTime)
        withExtendedLifetime(bob) {}
    }

    @Test("a model's text about a user follows a clock that is set")
    func model() async throws {
        let client = try await world.connected()
        let bob = await PresenceModel(of: "bob", from: client)
        func shows(_ text: String) async throws {
            await world.settle()
            try await eventually("\(text)") { await bob.text == text }
            // The model waits for the next change in a task, which may not have begun.
            try await eventually("it waits") {
                await withCheckedContinuation { answer in
                    client.engine.run { answer.resume(returning: !$0.pauses.isEmpty) }
                }
            }
        }
        await world.settle()
        try await shows("1m ago")
        world.setClock(by: .seconds(3600 * 3))
        await world.advance(by: .seconds(61))
        try await shows("Last seen today")
        world.setClock(by: .seconds(3600 * 48))
        await world.advance(by: .seconds(61))
        try await shows("Last seen within a week")
        world.setClock(by: .seconds(-3600 * 51))
        await world.advance(by: .seconds(61))
        try await shows("4m ago")
    }

    @Test("a pause whose task is cancelled as it begins ends")
    func cancelledAsItBegins() async throws {
        let client = try await TestWorld().connected()
        var random = SeededGenerator(seed: printedSeed())
        for _ in 0..<20_000 {
            let hasBegun = NIOLockedValueBox(false)
            let task = Task {
                hasBegun.withLockedValue { $0 = true }
                return await client.pause(.seconds(3600))
            }
            let spins = Int.random(in: 0..<20, using: &random)
            await withCheckedContinuation { cancelled in
                DispatchQueue.global().async {
                    while !hasBegun.withLockedValue({ $0 }) {}
                    for _ in 0..<spins { _ = hasBegun.withLockedValue { $0 } }
                    task.cancel()
                    cancelled.resume()
                }
            }
        }
        try await eventually("none is left") { await client.inspect { $0.pauses.isEmpty } }
        await client.shutdown()
    }

    @Test("a model of a closed client waits for nothing, and makes no further requests")
    func closed() async throws {
        let client = try await world.connected()
        #expect(await client.inspect { $0.pauses.count } == 0)
        async let goesOn = client.pause(.seconds(3600))
        try await eventually("it waits") { await client.inspect { $0.pauses.count } == 1 }
        await client.shutdown()
        #expect(await goesOn == false)
        #expect(await client.pause(.seconds(3600)) == false)
    }
}
