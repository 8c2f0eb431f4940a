// Listens with `redis-cli` to what is published in Redis.

import Foundation

/// An event in the output of `redis-cli`.
enum Heard: Hashable, Sendable {
    /// The subscription is active: no further message is missed.
    case listening
    case message(channel: String, payload: String)
}

/// Listens to what is published in the private Redis.
struct RedisListener: Sendable {
    let redis: Part<PrivateRedis>

    private static let patterns = ["typing:*", "presence:*", "members:*"]

    /// How often it checks whether a server is back.
    private static let lookout = Duration.milliseconds(50)

    /// Listens until cancelled, to one server after another.
    ///
    /// - Throws: ``PartEnded`` if `redis-cli` ends although its server still runs.
    func run(_ heard: @escaping @Sendable (Heard) -> Void) async throws {
        while true {
            if let server = await redis.life?.running {
                do {
                    try await listen(to: server, heard)
                } catch let ended as PartEnded {
                    // It ended because its server was crashed.
                    guard await hasLeft(server) else { throw ended }
                }
            }
            try await Task.sleep(for: Self.lookout)
        }
    }

    /// Whether the server is gone. This may become known with a delay.
    private func hasLeft(_ server: PrivateRedis) async -> Bool {
        for _ in 0..<100 {
            if await redis.life?.running.pid != server.pid { return true }
            try? await Task.sleep(for: Self.lookout)
        }
        return false
    }

    private func listen(to server: PrivateRedis, _ heard: @escaping @Sendable (Heard) -> Void) async throws {
        let child = try Child(
            "redis-cli", program: Program.find("redis-cli"),
            arguments: ["-h", "127.0.0.1", "-p", "\(server.port)", "PSUBSCRIBE"] + Self.patterns)
        try await child.during {
            // Each element of a push is printed on a line of its own.
            var push: [String] = []
            for await line in child.lines {
                if line == "pmessage" || line == "psubscribe" { push = [] }
                push.append(line)
                if push.count == 4, push[0] == "pmessage" { heard(.message(channel: push[2], payload: push[3])) }
                if push == ["psubscribe", Self.patterns.last, "\(Self.patterns.count)"] { heard(.listening) }
            }
            try Task.checkCancellation()
            // The output ends shortly before the process, whose end shows the reason.
            try await child.endingAsWanted()
        }
    }
}
