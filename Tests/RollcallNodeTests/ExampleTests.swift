// Runs the example in `Examples/Rooms` like a reader.

import Foundation
import RollcallNode
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ExampleTests {
    private struct Room: Decodable {
        var here: [String]
        var typing: [String]
    }

    @Test("an HTTP server with an embedded node returns who is online and who is typing")
    func rooms() async throws {
        let redis = try await RedisServer()
        let port = try freePort()
        let server = try ChildProcess(
            [Self.executable], environment: ["ROLLCALL_REDIS_URL": redis.url, "PORT": "\(port)"])
        try await EmbeddedNode.with(redis) { node in
            try await node.setMembers(["alice": "Alice", "bob": "Bob", "greeter": "The greeter"], of: "c42")
            let alice = node.client(user: "alice", device: "phone")
            alice.connect()
            let input = alice.typingInput(in: "c42")
            try await eventually("the server tells of Alice and of itself") {
                (try? await ask(port))?.here == ["Alice", "The greeter"]
            }
            input.edited("Hello")
            try await eventually("and that she types") { try await ask(port).typing == ["Alice"] }
            server.signal(SIGTERM)
            #expect(try await server.exitCode() == 0)
        }
    }

    private static var executable: String {
        let besideTests = Bundle.main.bundleURL.appending(path: "rooms").path
        if FileManager.default.isExecutableFile(atPath: besideTests) { return besideTests }
        return URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../.build/debug/rooms").path
    }

    private func ask(_ port: Int) async throws -> Room {
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/rooms/c42"))
        return try JSONDecoder().decode(Room.self, from: try await URLSession.shared.data(from: url).0)
    }
}
