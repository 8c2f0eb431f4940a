// Private servers are asked by `redis-cli`, which everybody has who has Redis.

import Foundation

extension PrivateRedis {
    /// A running `redis-cli` that was told these words.
    func cli(_ words: [String]) throws -> Child {
        try Child(
            "redis-cli", program: Program.find("redis-cli"), arguments: ["-h", "127.0.0.1", "-p", "\(port)"] + words)
    }

    /// What the server answers, a line for each part.
    func ask(_ words: String...) async throws -> [String] {
        var lines: [String] = []
        for await line in try cli(words).lines { lines.append(line) }
        return lines
    }
}
