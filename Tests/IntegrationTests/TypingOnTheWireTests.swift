// The cost of ten seconds of typing for everything involved: the connection of the typing user, Redis, and the
// connections of observers. Keys come at the pace of a fast typist, through a real client, real workers and a real
// Redis.

import Foundation
import Harness
import RollcallClient
import RollcallModel
import TestSupport
import Testing

@Suite("Typing on the wire", .enabled(if: isSoaking))
struct TypingOnTheWireTests {
    @Test("ten seconds at twelve keys per second cause ten signals at most, and are shown once without flicker")
    func tenSeconds() async throws {
        let deployment = try await Deployment(workers: 2)
        let proxy = try await Proxy(to: deployment.workers[0].port)
        try await proxy.listen()
        let redis = try await Subscriber(deployment.redis, to: "typing:{c42}")
        let wire = try await deployment.workers[1].device("bob", "phone")
        try await wire.ask(.join("c42", presence: false))
        let bob = try await deployment.client("bob", "laptop", on: 1)
        let seen = Observer(bob.typing(in: "c42"))
        try await seen.sees(typing: [])

        let typed = try await type(over: proxy)
        try await seen.sees(typing: [])
        try await eventually("all observers see the end of typing") {
            let shown = try await wire.typing(in: "c42")
            return try redis.typing().last == false && shown?.count == 0
        }

        let signals = try await proxy.texts().compactMap { text in
            if case .typing(_, let typing) = try MessageCodec().request(from: Data(text.utf8)).message {
                typing
            } else {
                nil as Bool?
            }
        }
        let frames = wire.messages.filter { if case .typing = $0 { true } else { false } }
        print(
            """
            T4, ten seconds at twelve keys a second: \(signals.count { $0 }) signals and \(signals.count { !$0 }) stop on \
            the wire, \(try redis.typing().count) messages published in Redis, \(frames.count) frames at an observer, \
            \(seen.all.count - 1) changes in its app
            """)
        // The first after 0.3 s, then one per second: ten, unless the machine is slow.
        #expect(signals.count { $0 } >= 9 && Double(signals.count { $0 }) <= typed / .seconds(1) + 0.7)
        #expect(signals.count { !$0 } == 1 && signals.last == false)
        #expect(try redis.typing() == signals, "each signal is one message in Redis")
        #expect(
            (4...6).contains(frames.count), "the snapshot, the appearance, a repetition each three seconds, the end")
        #expect(seen.all.map(\.count) == [0, 1, 0])
    }

    /// Types as Alice for ten seconds, and sends the message.
    ///
    /// - Returns: how long it took.
    private func type(over proxy: Proxy) async throws -> Duration {
        let alice = RollcallClient(url: "ws://127.0.0.1:\(proxy.port)/v1/connect", device: "phone") { "alice" }
        alice.connect()
        try await eventually("alice is connected") { alice.connectionState.isConnected }
        let input = alice.typingInput(in: "c42")
        let begin = ContinuousClock.now
        var text = ""
        for key in 0..<120 {
            // Sleeps, because the test depends on the pace of the keys.
            try await Task.sleep(until: begin + .seconds(10) * key / 120, clock: .continuous)
            text += key % 6 == 5 ? " " : "x"
            input.edited(text)
        }
        try await Task.sleep(until: begin + .seconds(10), clock: .continuous)
        #expect(await input.sendConfirmed())
        return ContinuousClock.now - begin
    }
}

/// A third party that reads a Redis channel.
private struct Subscriber {
    private struct Change: Decodable {
        let typing: Bool
    }

    private let process: ChildProcess

    init(_ redis: TestRedis, to channel: String) async throws {
        process = try await redis.listener(on: channel)
    }

    /// Returns, for each message, whether it says that a user types.
    func typing() throws -> [Bool] {
        try process.output.split(separator: "\n").filter { $0.hasPrefix("{") }
            .map { try JSONDecoder().decode(Change.self, from: Data($0.utf8)).typing }
    }
}
