// Private servers are asked by `redis-cli`, which everybody has who has Redis.

import Foundation

extension PrivateRedis {
    /// A running `redis-cli` that was told these words.
    func cli(_ words: [String]) throws -> Child {
        try Child(
            "redis-cli", program: Program.find("redis-cli"), arguments: ["-h", "127.0.0.1", "-p", "\(port)"] + words)
    }

    /// How long a server may take to answer: one may be stopped, on purpose too.
    private static let patience = Duration.seconds(2)

    /// What the server answers, a line for each part; nothing if it does not answer in time.
    func ask(_ words: String...) async throws -> [String] {
        let child = try cli(words)
        async let _: Void = child.stop(after: Self.patience)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        if Task.isCancelled { await child.stop() }
        return lines
    }
}
