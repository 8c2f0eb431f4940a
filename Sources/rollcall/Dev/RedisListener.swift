// Listens with `redis-cli` to what is published in Redis. A single primary is subscribed to with patterns. On a cluster
// messages use sharded pub/sub, which has no patterns, so each server's commands are monitored instead.

import Foundation

/// A place with one Redis server at a time.
protocol RedisPlace: Sendable {
    /// The server on which messages are published; `nil` while there is none.
    var server: PrivateRedis? { get async }
}

extension Part: RedisPlace where Running == PrivateRedis {
    var server: PrivateRedis? { life?.running }
}

/// Listens to what is published in one place.
struct RedisListener: Sendable {
    let place: any RedisPlace
    /// The command for `redis-cli`.
    let words: [String]
    /// Parses its output.
    let ear: any Ear

    /// How often it checks whether a server is back.
    private static let lookout = Duration.milliseconds(50)

    /// Listens until cancelled, to one server after another.
    ///
    /// - Throws: ``PartEnded`` if `redis-cli` ends although its server still runs.
    func run(_ heard: @escaping @Sendable (Heard) -> Void) async throws {
        while true {
            if let server = await place.server {
                do {
                    try await listen(to: server, heard)
                } catch let ended as PartEnded {
                    // It ended because its server was crashed or is no longer the primary.
                    guard await hasLeft(server) else { throw ended }
                }
            }
            try await Task.sleep(for: Self.lookout)
        }
    }

    /// Whether the server was replaced or is gone. This may become known with a delay.
    private func hasLeft(_ server: PrivateRedis) async -> Bool {
        for _ in 0..<100 {
            if await place.server?.pid != server.pid { return true }
            try? await Task.sleep(for: Self.lookout)
        }
        return false
    }

    private func listen(to server: PrivateRedis, _ heard: @escaping @Sendable (Heard) -> Void) async throws {
        let child = try server.cli(words)
        try await child.during {
            var ear = ear
            for await line in child.lines {
                if let something = ear.take(line) { heard(something) }
            }
            try Task.checkCancellation()
            // The output ends shortly before the process, whose end shows the reason.
            try await child.endingAsWanted()
        }
    }
}

// MARK: Kinds of listeners

extension RedisListener {
    private static let names = ["typing:", "presence:", "members:"]

    /// A listener for a server on which patterns work.
    static func everything(at place: any RedisPlace) -> RedisListener {
        let patterns = names.map { "\($0)*" }
        return RedisListener(place: place, words: ["PSUBSCRIBE"] + patterns, ear: PatternEar(patterns))
    }

    /// A listener for one primary of a cluster.
    static func shard(at place: any RedisPlace) -> RedisListener {
        RedisListener(place: place, words: ["MONITOR"], ear: CommandEar(prefixes: names))
    }
}
