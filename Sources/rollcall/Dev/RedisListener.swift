// What is published in a Redis is heard by `redis-cli`, as anyone may. One primary is subscribed to with patterns. On a
// cluster messages are sharded, for which there are no patterns: there each server's commands are watched.

import Foundation

/// A place in which one Redis server after another is.
protocol RedisPlace: Sendable {
    /// The server in which something may be published; `nil` while there is none.
    var server: PrivateRedis? { get async }
}

extension Part: RedisPlace where Running == PrivateRedis {
    var server: PrivateRedis? { life?.running }
}

/// Hears what is published in one place.
struct RedisListener: Sendable {
    let place: any RedisPlace
    /// What `redis-cli` is asked for.
    let words: [String]
    /// Understands its answer.
    let ear: any Ear

    /// How often it looks for a server that is away.
    private static let lookout = Duration.milliseconds(50)

    /// Listens to one server after another, until cancelled.
    ///
    /// - Throws: ``PartEnded`` if `redis-cli` ends while its server goes on.
    func run(_ heard: @escaping @Sendable (Heard) -> Void) async throws {
        while true {
            if let server = await place.server {
                do {
                    try await listen(to: server, heard)
                } catch let ended as PartEnded {
                    // It went with its server, which was crashed, or is the primary no longer.
                    guard await hasLeft(server) else { throw ended }
                }
            }
            try await Task.sleep(for: Self.lookout)
        }
    }

    /// Whether there is another, or none, or will be as soon as it is known.
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
            // Its output ends a moment before the process does, which is what says why.
            try await child.endingAsWanted()
        }
    }
}

// MARK: Which there are

extension RedisListener {
    private static let names = ["typing:", "presence:", "members:"]

    /// Where all that is published can be subscribed to.
    static func everything(at place: any RedisPlace) -> RedisListener {
        let patterns = names.map { "\($0)*" }
        return RedisListener(place: place, words: ["PSUBSCRIBE"] + patterns, ear: PatternEar(patterns))
    }

    /// Where each channel is one primary's.
    static func shard(at place: any RedisPlace) -> RedisListener {
        RedisListener(place: place, words: ["MONITOR"], ear: CommandEar(prefixes: names))
    }
}
