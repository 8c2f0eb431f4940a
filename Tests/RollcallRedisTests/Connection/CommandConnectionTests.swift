import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct CommandConnectionTests {
    @Test func `replies come in the order of their commands, errors among them`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis)
        try await commands.connected()
        let count = 20_000
        let replies = try await commands.replies(
            (1...count).map { $0 % 100 == 0 ? RedisCommand("HGET", "n", "f") : RedisCommand("INCR", "n") })
        var expected: Int64 = 0
        for (index, reply) in replies.enumerated() {
            if (index + 1) % 100 == 0 {
                #expect(reply.error?.code == .server(kind: "WRONGTYPE"))
                #expect(reply.error?.command == "HGET")
            } else {
                expected += 1
                #expect(try reply.get() == .integer(expected))
            }
        }
        try await commands.close()
    }

    @Test func `what is sent in one turn of the loop leaves in one write`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, settings: .still())
        try await commands.connected()
        let before = try await redis.readCount()
        _ = try await commands.replies(Array(repeating: RedisCommand("PING"), count: 1000))
        // 14 kB, of which Redis reads up to 16 kB at once; the other reads are for `redis-cli`.
        #expect(try await redis.readCount() - before < 20)
        try await commands.close()
    }

    @Test func `large arguments and large replies pass`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis)
        try await commands.connected()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try await commands.send(RedisCommand("SET", "big", .bytes(bytes))) == .status("OK"))
        #expect(try await commands.send(RedisCommand("GET", "big")) == .bulk(bytes))
        try await commands.close()
    }

    @Test func `the connection has a name, a database, and may run over a Unix socket`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(
            of: redis, url: "redis+unix://\(redis.socketPath)?db=3", name: "rollcall-w1.3f9a2c")
        try await commands.connected()
        #expect(try await commands.send(RedisCommand("SET", "k", "v")) == .status("OK"))
        #expect(try await redis.cli("-n", "3", "GET", "k") == "v")
        #expect(try await redis.cli("CLIENT", "LIST").contains("name=rollcall-w1.3f9a2c"))
        try await commands.close()
    }

    @Test func `a command without a connection fails at once and is never sent later`() async throws {
        let port = try freePort()
        let commands = try await Commands(url: "redis://127.0.0.1:\(port)")
        let failed = try await commands.use { connection in
            var code: RedisError.Code?
            connection.send(RedisCommand("INCR", "secret")) { code = $0.error?.code }
            return code
        }
        #expect(failed == .notConnected)
        try await eventually("the attempt has failed") {
            try await commands.use { $0.lastError?.code == .connectFailed }
        }

        let redis = try await RedisServer(port: port)
        try await commands.connected()
        #expect(try await commands.send(RedisCommand("EXISTS", "secret")) == .integer(0))
        #expect(try await redis.cli("EXISTS", "secret") == "0")
        try await commands.close()
    }

    @Test func `no more commands wait than are allowed`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, settings: .still(maximumWaiting: 10))
        try await commands.connected()
        let replies = try await commands.replies(Array(repeating: RedisCommand("INCR", "n"), count: 13))
        // Refusals are reported at once, before any reply.
        #expect(replies.prefix(3).allSatisfy { $0.error?.code == .tooManyWaiting && $0.error?.command == "INCR" })
        #expect(try replies.dropFirst(3).map { try $0.get().integer } == (1...10).map { Int64($0) })
        #expect(try await commands.send(RedisCommand("INCR", "n")) == .integer(11))
        try await commands.close()
    }

    @Test func `closing fails what waits, and is no loss`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis)
        try await commands.connected()
        let replies = try await commands.collect(2) { connection, reply in
            connection.send(RedisCommand("BLPOP", "nothing", 0), reply: reply)
            _ = connection.close()
            connection.send(RedisCommand("PING"), reply: reply)
        }
        #expect(replies.map { $0.error?.code } == [.closed, .closed])
        #expect(commands.events == ["connected"])
        try await commands.close()
    }

    @Test func `a connection that its owner forgets goes away`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, name: "forgotten", settings: .hasty)
        try await commands.connected()
        try await commands.forget()
        try await eventually("it is gone") { try await !redis.cli("CLIENT", "LIST").contains("name=forgotten") }
    }
}
