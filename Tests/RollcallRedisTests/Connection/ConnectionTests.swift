// Connections to a single Redis: commands, scripts, subscriptions, and what happens when Redis or the way to it fails.

import Foundation
import NIOCore
import NIOPosix
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallRedis

@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
    // MARK: Commands

    @Test("replies come in the order of their commands, errors among them")
    func order() async throws {
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL)
        let replies = try await client.replies(
            (1...20_000).map { $0 % 100 == 0 ? RedisCommand("HGET", "n", "f") : RedisCommand("INCR", "n") })
        var expected: Int64 = 0
        for (index, reply) in replies.enumerated() {
            if (index + 1) % 100 == 0 {
                #expect(reply.error?.code == .server(kind: "WRONGTYPE") && reply.error?.command == "HGET")
            } else {
                expected += 1
                #expect(try reply.get() == .integer(expected))
            }
        }
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try await client.send("SET", "big", .bytes(bytes)) == .status("OK"))
        #expect(try await client.send("GET", "big") == .bulk(bytes))
        try await client.close()
    }

    @Test("what is sent in one turn of the loop leaves in one write, and a pipeline keeps its place")
    func oneWrite() async throws {
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL, settings: .still(maximumWaiting: 1000))
        try await redis.cli("SET", "k7", "no hash")
        func reads() async throws -> Int {
            let line = try await redis.cli("INFO", "stats").split { $0.isNewline }
                .first { $0.hasPrefix("total_reads_processed:") }
            return try #require(line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) })
        }
        let before = try await reads()
        let replies = try await client.collect(302) { commands, reply in
            commands.send(RedisCommand("INCR", "n"), reply: reply)
            commands.pipeline((0..<300).map { "k\($0)" }, reply: reply)
            commands.send(RedisCommand("INCR", "n"), reply: reply)
        }
        // 9 kB, of which Redis reads up to 16 kB at once; the other reads are for `redis-cli`.
        #expect(try await reads() - before < 10)
        #expect(try replies[0].get() == .integer(1) && replies[301].get() == .integer(2))
        #expect(replies[8].error?.code == .server(kind: "WRONGTYPE") && replies[8].error?.command == "HGETALL")
        #expect(replies.enumerated().allSatisfy { $0.offset == 8 || $0.element.error == nil })

        // Refusals are reported at once, before any reply, and a pipeline is refused whole.
        let many = try await client.collect(1202) { commands, reply in
            for _ in 0..<1001 { commands.send(RedisCommand("INCR", "m"), reply: reply) }
            commands.pipeline((0..<201).map { "k\($0)" }, reply: reply)
        }
        #expect(many.prefix(202).allSatisfy { $0.error?.code == .tooManyWaiting })
        #expect(try many.dropFirst(202).map { try $0.get().integer } == (1...1000).map { Int64($0) })
        try await client.close()
    }

    @Test("the connection has a name, a database, and may run over a Unix socket; it goes when its owner forgets it")
    func unixSocket() async throws {
        let redis = try await RedisServer()
        var client: TestClient? = try await TestClient(
            "redis+unix://\(redis.socketPath)?db=3", name: "rollcall-w1.3f9a2c")
        #expect(try await client?.send("SET", "k", "v") == .status("OK"))
        #expect(try await redis.cli("-n", "3", "GET", "k") == "v")
        #expect(try await redis.cli("CLIENT", "LIST").contains("name=rollcall-w1.3f9a2c"))
        client = nil
        try await eventually("it is gone") { try await !redis.cli("CLIENT", "LIST").contains("name=rollcall") }
    }

    @Test("a command without a connection fails at once and is never sent later; a channel is subscribed later")
    func notConnected() async throws {
        let port = try freePort()
        let client = try await TestClient("redis://127.0.0.1:\(port)", waits: false)
        let error = try await client.replies([RedisCommand("INCR", "secret")])[0].error
        #expect(error?.code == .notConnected)
        try await client.use { _, subscriber in subscriber.subscribe("early") }
        try await eventually("the attempt has failed") {
            try await client.use { commands, _ in commands.lastError?.code == .connectFailed }
        }
        let redis = try await RedisServer(port: port)
        try await client.confirmed(["early"])
        try await client.heard("connected")
        #expect(try await client.send("EXISTS", "secret") == .integer(0))
        #expect(try await redis.cli("PUBSUB", "CHANNELS") == "early")
        try await client.close()
    }

    @Test("closing fails what waits, each once, and is no loss")
    func closing() async throws {
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL)
        let replies = try await client.collect(4) { commands, reply in
            commands.send(RedisCommand("BLPOP", "nothing", 0), reply: reply)
            commands.pipeline(["a", "b"], reply: reply)
            _ = commands.close()
            commands.send(any: RedisCommand("PING"), reply: reply)
        }
        #expect(replies.map { $0.error?.code } == [.closed, .closed, .closed, .notConnected])
        #expect(client.events == ["connected"])
        try await client.close()
    }

    // MARK: Scripts

    @Test("a script is loaded at connect, called by its hash, and runs once and in order if Redis forgot it")
    func scripts() async throws {
        let append = Script(name: "append", source: "redis.call('RPUSH', KEYS[1], ARGV[1]) return {KEYS[1], ARGV[1]}")
        let broken = Script(name: "broken", source: "this is not Lua")
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL, scripts: [append, broken])
        let reply = try await client.collect(1) { $0.call(append, keys: ["list"], arguments: ["a b"], reply: $1) }[0]
        #expect(try reply.get() == .array([.text("list"), .text("a b")]))
        let statistics = try await redis.cli("INFO", "commandstats")
        #expect(statistics.contains("cmdstat_evalsha:calls=1,") && !statistics.contains("cmdstat_eval:"))
        for round in 1...3 {
            try await redis.cli("SCRIPT", "FLUSH")
            let replies = try await client.collect(100) { commands, reply in
                for number in Int64(0)..<100 {
                    commands.call(append, keys: ["l\(round)"], arguments: [.integer(number)], reply: reply)
                }
            }
            #expect(replies.allSatisfy { $0.error == nil })
            let list = try await client.send("LRANGE", .string("l\(round)"), 0, -1)
            #expect(list.array?.compactMap(\.integer) == (0..<100).map { Int64($0) })
        }
        try await redis.cli("SET", "alice", "text")
        let errors = try await client.collect(2) { commands, reply in
            for script in [append, broken] {
                commands.call(script, keys: ["alice"], arguments: ["secret"], reply: reply)
            }
        }.map(\.error)
        #expect(errors.map { $0?.command } == ["EVALSHA append", "EVALSHA broken"])
        #expect(errors[0]?.code == .server(kind: "WRONGTYPE"))
        for error in errors { #expect(!"\(error!)".contains("secret") && !"\(error!)".contains("alice")) }
        try await client.close()
    }

    // MARK: Messages

    @Test("messages come on the channels that are wanted, compared by bytes, and on no others")
    func messages() async throws {
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL)
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        try await client.subscribe(["presence:{alice}", composed, decomposed])
        #expect(try await redis.cli("PUBSUB", "CHANNELS").split(separator: "\n").count == 3)
        #expect(try await client.publish("{\"status\":\"online\"}", on: "presence:{alice}") == 1)
        try await client.heard("presence:{alice}: {\"status\":\"online\"}")
        #expect(try await client.publish("x", on: decomposed) == 1)
        try await eventually("the message comes on its own channel") {
            client.events.last.map { Array($0.utf8) } == Array("\(decomposed): x".utf8)
        }
        // Leaving and wanting again while answers are on their way ends subscribed.
        for round in 1...20 {
            try await client.use { _, subscriber in subscriber.unsubscribe("presence:{alice}") }
            try await client.use { _, subscriber in subscriber.subscribe("presence:{alice}") }
            try await client.confirmed(["presence:{alice}"])
            #expect(try await client.publish("\(round)", on: "presence:{alice}") == 1)
            try await client.heard("presence:{alice}: \(round)")
        }
        try await client.use { _, subscriber in subscriber.unsubscribe("presence:{alice}") }
        try await eventually("Redis has forgotten it") {
            try await redis.cli("PUBSUB", "CHANNELS").split(separator: "\n").count == 2
        }
        try await client.close()
    }

    @Test("a churn of subscriptions and losses ends with what is wanted, each confirmed anew")
    func churn() async throws {
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL)
        for round in 0..<30 {
            let seed = UInt64(round)
            try await client.use { _, subscriber in
                var random = SeededGenerator(seed: seed)
                for _ in 0..<200 {
                    let channel = "c\(Int.random(in: 0..<50, using: &random))"
                    if Bool.random(using: &random) {
                        subscriber.subscribe(channel)
                    } else {
                        subscriber.unsubscribe(channel)
                    }
                }
            }
            if round % 10 == 5 { try await redis.cli("CLIENT", "KILL", "TYPE", "pubsub") }
        }
        try await client.use { _, subscriber in for number in 0..<50 { subscriber.unsubscribe("c\(number)") } }
        let wanted = (0..<20_000).map { "presence:{user-\($0)}" }
        try await client.subscribe(wanted)
        try await eventually("Redis has those, and no others") {
            Set(try await redis.cli("PUBSUB", "CHANNELS").split(separator: "\n").map(String.init)) == Set(wanted)
        }
        _ = client.takeEvents()
        try await redis.cli("CLIENT", "KILL", "TYPE", "pubsub")
        try await eventually("each is confirmed again", every: .milliseconds(100)) {
            client.events.count { $0.hasPrefix("+") } == wanted.count
        }
        #expect(client.events.count { $0.hasPrefix("-") } == wanted.count)
        #expect(try await client.publish("hello", on: wanted[12_345]) == 1)
        try await client.heard("\(wanted[12_345]): hello")
        try await client.close()
    }

    // MARK: Losses

    @Test("a killed Redis fails what waits, and one that comes back is found")
    func killed() async throws {
        let port = try freePort()
        var redis: RedisServer? = try await RedisServer(port: port)
        let client = try await TestClient("redis://127.0.0.1:\(port)")
        try await client.subscribe(["c"])
        async let waiting = client.replies([RedisCommand("BLPOP", "nothing", 0), RedisCommand("PING")])
        try await eventually("both wait") { try await client.use { commands, _ in commands.waitingCount == 2 } }
        redis?.process.kill()
        let errors = try await waiting.map(\.error)
        #expect(errors.map { $0?.code } == [.connectionLost, .connectionLost])
        #expect(errors.map { $0?.command } == ["BLPOP", "PING"])
        redis = try await RedisServer(port: port)
        try await client.heard("connected", times: 2)
        try await client.confirmed(["c"])
        #expect(client.events.filter { !$0.hasSuffix("c") } == ["connected", "lost connectionLost", "connected"])
        try await client.close()
    }

    @Test("a Redis that hangs is given up by commands and by pings, and found again when it answers")
    func hangs() async throws {
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL, settings: .hasty)
        try await client.subscribe(["c"])
        for round in 1...2 {
            redis.process.signal(SIGSTOP)
            if round == 1 {
                let errors = try await client.replies([RedisCommand("INCR", "n"), RedisCommand("GET", "k")]).map(
                    \.error)
                #expect(errors.map { $0?.code } == [.timedOut, .timedOut])
                #expect(errors.map { $0?.command } == ["INCR", "GET"])
            }
            try await client.heard("lost timedOut", times: round)
            try await client.heard("-c", times: round)
            redis.process.signal(SIGCONT)
            try await client.heard("connected", times: round + 1)
            try await client.confirmed(["c"])
        }
        // One command that is held up counts as silence, though Redis answers others.
        try await redis.cli("CLIENT", "PAUSE", "600000", "WRITE")
        let error = try await client.replies([RedisCommand("SET", "k", "v")])[0].error
        #expect(error?.code == .timedOut && error?.command == "SET")
        try await client.heard("connected", times: 4)
        #expect(try await client.send("GET", "k") == .null)
        try await client.close()
    }

    @Test("no silence are a queue that takes long while replies come, and a loop that was itself asleep")
    func notSilent() async throws {
        let redis = try await RedisServer()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let client = try await TestClient(redis.openURL, settings: .patient, on: group.next())
        let pause = """
            local began = redis.call('TIME')
            repeat
              local now = redis.call('TIME')
            until (now[1] - began[1]) * 1000000 + now[2] - began[2] > 300000
            """
        // Redis sends the replies to what it reads at once only after the last of them.
        let padding = RedisCommand.Argument.bytes(Array(repeating: 0, count: 64 << 10))
        let slow = try await client.replies((1...10).map { _ in RedisCommand("EVAL", .string(pause), 0, padding) })
        #expect(slow.allSatisfy { $0.error == nil }, "longer in all than Redis may be silent")
        let replies = try await client.collect(2) { commands, reply in
            commands.send(any: RedisCommand("PING"), reply: reply)
            Thread.sleep(forTimeInterval: 2)
            commands.send(any: RedisCommand("PING"), reply: reply)
        }
        #expect(replies.allSatisfy { $0.error == nil })
        try await client.subscribe(["c"])
        #expect(client.events == ["connected", "+c"])
        try await client.close()
        try await group.shutdownGracefully()
    }

    @Test(
        "whoever is no Redis that can be used is given up, again and again, and the error says why",
        arguments: [
            (nil, RedisError.Code.timedOut), ("HTTP/1.1 400 Bad Request\r\n\r\n", .protocolError),
            ("+OK\r\n+OK\r\n+OK\r\n+OK\r\n", .protocolError),
            ("-LOADING Redis is loading the dataset in memory\r\n", .server(kind: "LOADING")),
            ("-ERR max number of clients reached\r\n", .server(kind: "ERR")),
            ("-NOAUTH Authentication required.\r\n", .authentication),
        ])
    func unusable(answer: String?, code: RedisError.Code) async throws {
        let listener = try await Listener(answer: answer)
        let client = try await TestClient(listener.url, settings: .hasty, waits: false)
        try await eventually("both connections try again") { listener.acceptedCount >= 4 }
        try await eventually("the error is known") {
            try await client.use { commands, _ in commands.lastError?.code == code }
        }
        #expect(client.events.isEmpty || code == .protocolError)
        try await client.close()
        try await listener.close()
    }

    @Test("a Redis that says it is a replica counts as lost")
    func replica() async throws {
        let redis = try await RedisServer()
        let client = try await TestClient(redis.openURL)
        try await redis.cli("REPLICAOF", "127.0.0.1", "\(try freePort())")
        let error = try await client.replies([RedisCommand("SET", "k", "v")])[0].error
        #expect(error?.code == .server(kind: "READONLY"))
        try await redis.cli("REPLICAOF", "NO", "ONE")
        try await client.heard("connected", times: 2)
        #expect(client.events == ["connected", "lost server(kind: \"READONLY\")", "connected"])
        #expect(try await client.send("SET", "k", "v") == .status("OK"))
        try await client.close()
    }

    // MARK: Rights

    @Test("a wrong password or none is told from other failures, never shown, and tried again")
    func password() async throws {
        let redis = try await RedisServer(options: ["--requirepass", "s3cret word"], hasUsers: false)
        let right = try await TestClient("redis://:s3cret%20word@127.0.0.1:\(redis.port)")
        try await right.subscribe(["c"])
        let wrong = try await TestClient("redis://:wrong@127.0.0.1:\(redis.port)", waits: false)
        for client in [wrong, try await TestClient(redis.openURL, waits: false)] {
            try await eventually("it is refused") {
                let error = try await client.use { commands, _ in commands.lastError }
                return error?.code == .authentication && !"\(error!)".contains("wrong")
            }
        }
        try await redis.cli("-a", "s3cret word", "CONFIG", "SET", "requirepass", "wrong")
        try await wrong.heard("connected")
        let none = try await RedisServer(hasUsers: false)
        let needless = try await TestClient("redis://:secret@127.0.0.1:\(none.port)", waits: false)
        try await eventually("a password for a Redis that has none is refused, not ignored") {
            try await needless.use { commands, _ in commands.lastError?.code == .authentication }
        }
    }

    @Test("a user with few rights can still work")
    func fewRights() async throws {
        let redis = try await RedisServer()
        try await redis.cli("ACL", "SETUSER", "app", "on", ">pw", "~*", "&c*", "+get", "+subscribe", "+unsubscribe")
        let client = try await TestClient("redis://app:pw@127.0.0.1:\(redis.port)", settings: .hasty)
        #expect(try await client.send("GET", "k") == .null)
        #expect(try await client.replies([RedisCommand("SET", "k", "v")])[0].error?.code == .server(kind: "NOPERM"))
        try await client.subscribe(["c1"])
        try await client.use { _, subscriber in subscriber.subscribe("forbidden") }
        try await client.heard("denied server(kind: \"NOPERM\")", times: 2)
        #expect(
            try await client.use { _, subscriber in
                subscriber.isConfirmed("c1") && !subscriber.isConfirmed("forbidden")
            })
        try await client.close()
    }
}

extension RedisClient {
    /// Reads hashes on a single server, as one unit.
    fileprivate func pipeline(_ keys: [String], reply: @escaping (Result<RedisValue, RedisError>) -> Void) {
        var next = 0
        let connection = groups(of: keys.map { TaggedKey(head: $0, tag: "") })[0].connection
        connection.send("HGETALL", count: keys.count) { place, output in
            output.write(RedisCommand("HGETALL", .string(keys[place])))
        } reply: { place, result in
            #expect(place == next, "replies come in order, each once")
            next += 1
            reply(result.map(\.tree))
        }
    }
}
