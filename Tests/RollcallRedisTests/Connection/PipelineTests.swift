// Several commands sent as one request.

import NIOCore
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct PipelineTests {
    @Test func `an error fails the command that it answers, and no other`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis)
        try await commands.connected()
        try await redis.cli("SET", "k2", "no hash")
        for key in ["k0", "k1", "k3"] { try await redis.cli("HSET", key, "name", key) }
        let replies = try await commands.pipeline(["k0", "k1", "k2", "k3", "k4"])
        let hash: (String) -> RedisValue = { .array([.text("name"), .text($0)]) }
        #expect(replies.map { try? $0.get() } == [hash("k0"), hash("k1"), nil, hash("k3"), .array([])])
        #expect(replies[2].error?.code == .server(kind: "WRONGTYPE") && replies[2].error?.command == "HGETALL")
        try await commands.close()
    }

    @Test func `it leaves in one piece, and others keep their places before and behind it`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, settings: .still())
        try await commands.connected()
        let keys = (0..<300).map { "k\($0)" }
        let before = try await redis.readCount()
        let order = try await commands.collect(302) { connection, reply in
            connection.send(RedisCommand("INCR", "n"), reply: reply)
            connection.send("HGETALL", keys: keys, reply: reply)
            connection.send(RedisCommand("INCR", "n"), reply: reply)
        }
        #expect(order.first.flatMap { try? $0.get() } == .integer(1))
        #expect(order.dropFirst().dropLast().allSatisfy { (try? $0.get()) == .array([]) })
        #expect(order.last.flatMap { try? $0.get() } == .integer(2))
        // 9 kB, of which Redis reads up to 16 kB at once; the other reads are for `redis-cli`.
        #expect(try await redis.readCount() - before < 10)
        try await commands.close()
    }

    @Test func `as many wait as commands were sent, and what is too much is refused whole`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, settings: .still(maximumWaiting: 10))
        try await commands.connected()
        let waiting = try await commands.use { connection in
            connection.send("HGETALL", keys: ["a", "b", "c"]) { _ in }
            return connection.waitingCount
        }
        #expect(waiting == 3)
        try await eventually("all are answered") { try await commands.use { $0.waitingCount == 0 } }
        let refused = try await commands.pipeline((0..<11).map { "k\($0)" })
        #expect(refused.count == 11 && refused.allSatisfy { $0.error?.code == .tooManyWaiting })
        #expect(try await commands.pipeline((0..<9).map { "k\($0)" }).allSatisfy { $0.error == nil })
        try await commands.close()
    }

    @Test func `a loss fails what has not been answered, each once`() async throws {
        let commands = try await Commands(of: RedisServer(), settings: .hasty)
        try await commands.connected()
        let replies = try await commands.collect(4) { connection, reply in
            connection.send("HGETALL", keys: ["a", "b", "c"], reply: reply)
            _ = connection.close()
            connection.send("HGETALL", keys: ["d"], reply: reply)
        }
        #expect(replies.map { $0.error?.code } == [.closed, .closed, .closed, .closed])
        #expect(try await commands.use { $0.waitingCount } == 0)
    }

    @Test func `nothing to send is nothing to wait for`() async throws {
        let commands = try await Commands(of: RedisServer())
        try await commands.connected()
        let waiting = try await commands.use { connection in
            let before = connection.waitingCount
            connection.send("HGETALL", keys: []) { _ in Issue.record("there is no reply") }
            return connection.waitingCount - before
        }
        #expect(waiting == 0)
        try await commands.close()
    }
}

extension Commands {
    /// Reads these hashes with one request; the results are in the order of the keys.
    fileprivate func pipeline(_ keys: [String]) async throws -> [Result<RedisValue, RedisError>] {
        try await collect(keys.count) { $0.send("HGETALL", keys: keys, reply: $1) }
    }
}

extension CommandConnection {
    fileprivate func send(
        _ name: String, keys: [String], reply: @escaping (Result<RedisValue, RedisError>) -> Void
    ) {
        var next = 0
        send(name, count: keys.count) { place, output in
            output.write(RedisCommand(name, .string(keys[place])))
        } reply: { place, result in
            #expect(place == next, "replies come in order, each once")
            next += 1
            reply(result.map(\.tree))
        }
    }
}
