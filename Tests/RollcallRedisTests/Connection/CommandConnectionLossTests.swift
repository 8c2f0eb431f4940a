import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct CommandConnectionLossTests {
    @Test func `a killed Redis fails what waits, and one that comes back is found`() async throws {
        let port = try freePort()
        var redis: RedisServer? = try await RedisServer(port: port)
        let commands = try await Commands(url: "redis://127.0.0.1:\(port)")
        try await commands.connected()
        async let waiting = commands.replies([RedisCommand("BLPOP", "nothing", 0), RedisCommand("PING")])
        try await eventually("both wait") { try await commands.use { $0.waitingCount == 2 } }
        redis?.process.kill()
        let errors = try await waiting.map(\.error)
        #expect(errors.map { $0?.code } == [.connectionLost, .connectionLost])
        #expect(errors.map { $0?.command } == ["BLPOP", "PING"])

        redis = try await RedisServer(port: port)
        try await commands.connected()
        #expect(try await commands.send(RedisCommand("PING")) == .status("PONG"))
        #expect(commands.events == ["connected", "connectionLost", "connected"])
        try await commands.close()
    }

    @Test func `a Redis that does not answer in time is given up, and found again when it answers`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, settings: .hasty)
        try await commands.connected()
        redis.process.signal(SIGSTOP)
        let began = ContinuousClock.now
        let replies = try await commands.replies([RedisCommand("INCR", "n"), RedisCommand("GET", "k")])
        #expect(replies.map { $0.error?.code } == [.timedOut, .timedOut])
        #expect(replies.map { $0.error?.command } == ["INCR", "GET"])
        #expect(ContinuousClock.now - began >= .milliseconds(400))
        redis.process.signal(SIGCONT)
        try await commands.connected()
        try await commands.close()
    }

    @Test func `a command that is held up counts as silence, though Redis answers others`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, settings: .hasty)
        try await commands.connected()
        try await redis.cli("CLIENT", "PAUSE", "600000", "WRITE")
        let error = try await commands.replies([RedisCommand("SET", "k", "v")])[0].error
        #expect(error?.code == .timedOut)
        #expect(error?.command == "SET")
        try await commands.connected()
        #expect(try await commands.send(RedisCommand("GET", "k")) == .null)
        try await commands.close()
    }

    @Test func `a queue that takes long is no silence while replies come`() async throws {
        let slow = try await Listener(answer: "+OK\r\n", pause: .milliseconds(50))
        // Long enough that a listener on a busy machine does not count as silent.
        let settings = ConnectionSettings(pingEvery: .milliseconds(100), deadAfter: .seconds(2))
        let commands = try await Commands(url: slow.url, settings: settings)
        try await commands.connected()
        let began = ContinuousClock.now
        let replies = try await commands.replies((1...50).map { RedisCommand("SET", "k", .integer($0)) })
        #expect(replies.allSatisfy { $0.error == nil })
        #expect(ContinuousClock.now - began > settings.deadAfter, "longer than Redis may be silent")
        #expect(commands.events == ["connected"])
        try await commands.close()
        try await slow.close()
    }

    @Test func `an idle connection finds out by its pings that Redis hangs`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis, settings: .hasty)
        try await commands.connected()
        redis.process.signal(SIGSTOP)
        try await eventually("the silence is noticed") { commands.events.last == "timedOut" }
        redis.process.signal(SIGCONT)
        try await commands.connected()
        try await commands.close()
    }

    @Test func `whoever accepts and never answers is given up again and again`() async throws {
        let listener = try await Listener()
        let commands = try await Commands(url: listener.url, settings: .hasty)
        try await eventually("three attempts") { listener.acceptedCount >= 3 }
        #expect(try await commands.use { $0.lastError?.code } == .timedOut)
        #expect(commands.events.isEmpty)
        try await commands.close()
        try await listener.close()
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "+OK\r\n+OK\r\n+OK\r\n+OK\r\n"])
    func `whoever does not speak the protocol is given up`(answer: String) async throws {
        let listener = try await Listener(answer: answer)
        let commands = try await Commands(url: listener.url, settings: .hasty)
        try await eventually("two attempts") { listener.acceptedCount >= 2 }
        try await eventually("a protocol error") { try await commands.use { $0.lastError?.code == .protocolError } }
        try await commands.close()
        try await listener.close()
    }

    @Test(arguments: [
        ("-LOADING Redis is loading the dataset in memory", RedisError.Code.server(kind: "LOADING")),
        ("-ERR max number of clients reached", .server(kind: "ERR")),
        ("-NOAUTH Authentication required.", .authentication),
    ])
    func `a Redis that is not ready is no connection`(answer: String, code: RedisError.Code) async throws {
        let listener = try await Listener(answer: answer + "\r\n")
        let commands = try await Commands(url: listener.url, settings: .hasty)
        try await eventually("the answer is understood") { try await commands.use { $0.lastError?.code == code } }
        #expect(commands.events.isEmpty)
        try await commands.close()
        try await listener.close()
    }

    @Test func `a loop that was itself asleep does not take that for silence`() async throws {
        let redis = try await RedisServer()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let commands = try await Commands(of: redis, settings: .patient, on: group.next())
        try await commands.connected()
        for _ in 0..<3 {
            let replies = try await commands.collect(2) { connection, reply in
                connection.send(RedisCommand("PING"), reply: reply)
                Thread.sleep(forTimeInterval: 2)
                connection.send(RedisCommand("PING"), reply: reply)
            }
            #expect(try replies.map { try $0.get() } == [.status("PONG"), .status("PONG")])
        }
        #expect(commands.events == ["connected"])
        try await commands.close()
        try await group.shutdownGracefully()
    }

    @Test func `a Redis that says it is a replica counts as lost`() async throws {
        let redis = try await RedisServer()
        let commands = try await Commands(of: redis)
        try await commands.connected()
        try await redis.cli("REPLICAOF", "127.0.0.1", "\(try freePort())")
        let error = try await commands.replies([RedisCommand("SET", "k", "v")])[0].error
        #expect(error?.code == .server(kind: "READONLY"))
        try await redis.cli("REPLICAOF", "NO", "ONE")
        try await eventually("it is back") { commands.events.count >= 3 }
        #expect(commands.events == ["connected", "server(kind: \"READONLY\")", "connected"])
        #expect(try await commands.send(RedisCommand("SET", "k", "v")) == .status("OK"))
        try await commands.close()
    }
}
