// Private servers are queried with `redis-cli`, which is installed with Redis.

import Foundation

extension PrivateRedis {
    /// Starts `redis-cli` with these arguments.
    func cli(_ words: [String]) throws -> Child {
        try Child(
            "redis-cli", program: Program.find("redis-cli"), arguments: ["-h", "127.0.0.1", "-p", "\(port)"] + words)
    }

    /// The time limit for an answer. A server may be stopped, also on purpose.
    private static let patience = Duration.seconds(2)

    /// Returns the server's answer, one line for each part; empty if there is no answer in time.
    func ask(_ words: String...) async throws -> [String] {
        let child = try cli(words)
        async let _: Void = child.stop(after: Self.patience)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        if Task.isCancelled { await child.stop() }
        return lines
    }
}
