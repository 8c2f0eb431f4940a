import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct ScriptTests {
    private let append = Script(
        name: "append", source: "redis.call('RPUSH', KEYS[1], ARGV[1]) return {KEYS[1], ARGV[1], ARGV[2]}")
    private let failing = Script(name: "failing", source: "return redis.call('HGET', KEYS[1], ARGV[1])")

    @Test func `a script is loaded at connect, and called by its hash`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, scripts: [append])
        try await commands.connected()
        let replies = try await commands.collect(1) { [append] connection, reply in
            connection.call(append, keys: ["list"], arguments: ["a b", 2], reply: reply)
        }
        #expect(try replies[0].get() == .array([.text("list"), .text("a b"), .text("2")]))
        let statistics = try await redis.cli("INFO", "commandstats")
        #expect(statistics.contains("cmdstat_evalsha:calls=1,"))
        #expect(!statistics.contains("cmdstat_eval:"))
        try await commands.close()
    }

    @Test func `scripts that Redis forgot run all the same, once and in their order`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, scripts: [append])
        try await commands.connected()
        for round in 1...3 {
            try await redis.cli("SCRIPT", "FLUSH")
            let replies = try await commands.collect(100) { [append] connection, reply in
                for number in Int64(0)..<100 {
                    connection.call(append, keys: ["l\(round)"], arguments: [.integer(number), "x"], reply: reply)
                }
            }
            #expect(replies.allSatisfy { $0.error == nil })
            let list = try await commands.send(RedisCommand("LRANGE", .string("l\(round)"), 0, -1))
            #expect(list.array?.compactMap(\.integer) == (0..<100).map { Int64($0) })
        }
        try await commands.close()
    }

    @Test func `a script that was not handed over is sent whole`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis)
        try await commands.connected()
        let replies = try await commands.collect(1) { [append] connection, reply in
            connection.call(append, keys: ["list"], arguments: ["a", "b"], reply: reply)
        }
        #expect(replies[0].error == nil)
        try await commands.close()
    }

    @Test func `a script that fails is named, and its arguments are not`() async throws {
        let redis = try await RedisServer()
        try await redis.cli("SET", "alice", "text")
        let broken = Script(name: "broken", source: "this is not Lua")
        let commands = try await Commands(of: redis, scripts: [failing, broken])
        try await commands.connected()
        let errors = try await commands.collect(2) { [failing] connection, reply in
            connection.call(failing, keys: ["alice"], arguments: ["secret"], reply: reply)
            connection.call(broken, keys: ["alice"], arguments: ["secret"], reply: reply)
        }.map(\.error)
        #expect(errors.map { $0?.command } == ["EVALSHA failing", "EVALSHA broken"])
        #expect(errors[0]?.code == .server(kind: "WRONGTYPE"))
        for error in errors { #expect(!"\(error!)".contains("secret") && !"\(error!)".contains("alice")) }
        try await commands.close()
    }
}
