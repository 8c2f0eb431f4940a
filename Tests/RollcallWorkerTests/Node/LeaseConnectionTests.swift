// A worker's heartbeats have a separate connection: commands of shards do not delay them.

import NIOCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis
@testable import RollcallServer

@Suite("The heartbeat connection", .serialized, .timeLimit(.minutes(2)))
struct LeaseConnectionTests {
    private func incarnations(_ worker: StormyWorker) async throws -> [String] {
        try await worker.redis.cli("ZRANGE", "{workers}", "0", "-1").split(separator: "\n").map(String.init)
    }

    @Test("heartbeats are answered at once while a shard's commands take long")
    func backlog() async throws {
        var configuration = WorkerConfiguration()
        configuration.worker.heartbeat = .milliseconds(100)
        configuration.worker.lease = .seconds(20)
        try await StormyWorker.with(configuration) { worker in
            let hash = "{workers}:\(try await #require(incarnations(worker).first))"
            let beats = try await worker.ask { Self.beats(of: hash, between: 5000, at: $0.driver) }.get()
            #expect(Set(beats).count >= 4, "of ten heartbeats in the list")
            #expect(try await "{workers}:\(incarnations(worker).joined())" == hash, "no data was lost")
        }
    }

    /// Sends very many commands from a shard at once, and reads the last heartbeat ten times in between.
    private static func beats(of hash: String, between count: Int, at shard: ShardDriver) -> EventLoopFuture<[String]> {
        // Long enough for Redis to serve other connections in between: it reads 16 KiB of one connection at a time.
        let slow = RedisCommand("EVAL", "for i = 1, 50000 do end", 0, .string(String(repeating: "x", count: 1000)))
        let done = shard.eventLoop.makePromise(of: [String].self)
        var beats: [String] = []
        for _ in 1...10 {
            for _ in 1...count / 10 { shard.commands.send(slow) { _ in } }
            shard.commands.send(RedisCommand("HGET", .string(hash), "beat")) { result in
                beats.append((try? result.get().text?.string) ?? "")
                if beats.count == 10 { done.succeed(beats) }
            }
        }
        return done.futureResult
    }

    @Test("losing it counts as losing Redis, as with any connection for commands")
    func loss() async throws {
        try await StormyWorker.with(WorkerConfiguration.Limits()) { worker in
            let before = try await incarnations(worker)
            let clients = try await worker.redis.cli("CLIENT", "LIST").split(separator: "\n")
            let own = try #require(clients.first { $0.contains("-beats ") })
            let id = try #require(own.split(separator: " ").first?.dropFirst("id=".count))
            try await worker.redis.cli("CLIENT", "KILL", "ID", String(id))
            try await eventually("a new incarnation") { try await incarnations(worker) != before }
        }
    }
}
