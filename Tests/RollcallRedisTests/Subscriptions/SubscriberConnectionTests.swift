import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct SubscriberConnectionTests {
    @Test func `messages come on the channels that are wanted, and on no others`() async throws {
        let redis = try await RedisServer()
        let subscriber = try await Subscriber(of: redis)
        try await subscriber.subscribe("presence:{alice}", "typing:{c42}")
        #expect(subscriber.count(of: "+presence:{alice}") == 1)
        try await redis.cli("PUBLISH", "presence:{alice}", "{\"status\":\"online\"}")
        try await subscriber.heard("presence:{alice}: {\"status\":\"online\"}")

        try await subscriber.use { $0.unsubscribe("presence:{alice}") }
        try await eventually("Redis has forgotten it") { try await redis.cli("PUBSUB", "CHANNELS") == "typing:{c42}" }
        try await redis.cli("PUBLISH", "presence:{alice}", "unheard")
        try await redis.cli("PUBLISH", "typing:{c42}", "heard")
        try await subscriber.heard("typing:{c42}: heard")
        #expect(subscriber.count(of: "presence:{alice}: unheard") == 0)
        try await subscriber.close()
    }

    @Test func `channels wanted before there is a Redis are subscribed when there is one`() async throws {
        let port = try freePort()
        let subscriber = try await Subscriber(url: "redis://127.0.0.1:\(port)")
        try await subscriber.use { $0.subscribe("early") }
        #expect(try await subscriber.use { !$0.isConfirmed("early") })
        let redis = try await RedisServer(port: port)
        try await subscriber.confirmed(["early"])
        #expect(try await redis.cli("PUBSUB", "CHANNELS") == "early")
        try await subscriber.close()
    }

    @Test func `a killed connection comes back with all its channels, each confirmed anew`() async throws {
        let redis = try await RedisServer()
        let subscriber = try await Subscriber(of: redis)
        let channels = (0..<20_000).map { "presence:{user-\($0)}" }
        try await subscriber.use { connection in for channel in channels { connection.subscribe(channel) } }
        try await eventually("each is confirmed", every: .milliseconds(100)) {
            subscriber.confirmations == channels.count
        }

        try await redis.cli("CLIENT", "KILL", "TYPE", "pubsub")
        try await eventually("each is confirmed again", every: .milliseconds(100)) {
            subscriber.confirmations == 2 * channels.count
        }
        #expect(subscriber.count(of: "connectionLost") == 1)
        #expect(try await subscriber.use { channels.allSatisfy($0.isConfirmed) })
        #expect(try await redis.cli("PUBSUB", "CHANNELS").split(separator: "\n").count == channels.count)
        try await redis.cli("PUBLISH", channels[12_345], "hello")
        try await subscriber.heard("presence:{user-12345}: hello")
        try await subscriber.close()
    }

    @Test func `leaving and wanting again while answers are on their way ends subscribed`() async throws {
        let redis = try await RedisServer()
        let subscriber = try await Subscriber(of: redis)
        try await subscriber.subscribe("c")
        for round in 1...20 {
            try await subscriber.use { $0.unsubscribe("c") }
            try await subscriber.use { $0.subscribe("c") }
            try await subscriber.confirmed(["c"])
            #expect(try await redis.cli("PUBLISH", "c", "\(round)") == "1")
            try await subscriber.heard("c: \(round)")
        }
        try await subscriber.close()
    }

    @Test func `a churn of subscriptions and losses ends with what is wanted`() async throws {
        let redis = try await RedisServer()
        let subscriber = try await Subscriber(of: redis)
        for round in 0..<30 {
            let seed = UInt64(round)
            try await subscriber.use { connection in
                var random = SeededGenerator(seed: seed)
                for _ in 0..<200 {
                    let channel = "c\(Int.random(in: 0..<50, using: &random))"
                    if Bool.random(using: &random) {
                        connection.subscribe(channel)
                    } else {
                        connection.unsubscribe(channel)
                    }
                }
            }
            if round % 10 == 5 { try await redis.cli("CLIENT", "KILL", "TYPE", "pubsub") }
        }
        // Each channel's last change.
        try await subscriber.use { connection in
            for number in 0..<50 {
                if number < 25 { connection.subscribe("c\(number)") } else { connection.unsubscribe("c\(number)") }
            }
        }
        let wanted = Set((0..<25).map { "c\($0)" })
        try await subscriber.confirmed(Array(wanted))
        try await eventually("Redis has those, and no others") {
            Set(try await redis.cli("PUBSUB", "CHANNELS").split(separator: "\n").map(String.init)) == wanted
        }
        try await subscriber.close()
    }

    @Test func `names that Swift takes for equal are two channels`() async throws {
        let redis = try await RedisServer()
        let subscriber = try await Subscriber(of: redis)
        try await subscriber.subscribe("caf\u{E9}", "cafe\u{301}")
        #expect(try await redis.cli("PUBSUB", "CHANNELS").split(separator: "\n").count == 2)
        try await redis.cli("PUBLISH", "cafe\u{301}", "decomposed")
        try await eventually("the message comes on its own channel") {
            subscriber.events.last.map { Array($0.utf8) } == Array("cafe\u{301}: decomposed".utf8)
        }
        try await subscriber.close()
    }

    @Test func `an idle subscriber stays connected, with channels and after the last of them`() async throws {
        let redis = try await RedisServer()
        let subscriber = try await Subscriber(of: redis, settings: .patient)
        for step in 0..<3 {
            if step == 1 { try await subscriber.subscribe("c") }
            if step == 2 { try await subscriber.use { $0.unsubscribe("c") } }
            // Longer than a connection may be silent.
            let pings = try await self.pings(redis)
            try await eventually("as many pings") { try await self.pings(redis) > pings + 16 }
        }
        #expect(subscriber.events == ["+c"])
        try await subscriber.close()
    }

    private func pings(_ redis: RedisServer) async throws -> Int {
        let line = try await redis.cli("INFO", "commandstats").split { $0.isNewline }.first {
            $0.hasPrefix("cmdstat_ping:calls=")
        }
        return line.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) } ?? 0
    }

    @Test func `a Redis that hangs is noticed, and everything is as before when it goes on`() async throws {
        let redis = try await RedisServer()
        let subscriber = try await Subscriber(of: redis, settings: .hasty)
        try await subscriber.subscribe("c")
        redis.process.signal(SIGSTOP)
        try await subscriber.heard("timedOut")
        redis.process.signal(SIGCONT)
        try await subscriber.confirmed(["c"])
        try await redis.cli("PUBLISH", "c", "hello")
        try await subscriber.heard("c: hello")
        try await subscriber.close()
    }

    @Test func `a loop that was itself asleep does not take that for silence`() async throws {
        let redis = try await RedisServer()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let subscriber = try await Subscriber(of: redis, settings: .patient, on: group.next())
        try await subscriber.subscribe("c")
        for round in 1...3 {
            try await subscriber.use { connection in
                connection.subscribe("c\(round)")
                Thread.sleep(forTimeInterval: 2)
            }
            try await subscriber.confirmed(["c\(round)"])
        }
        #expect(subscriber.events.allSatisfy { $0.hasPrefix("+") })
        try await subscriber.close()
        try await group.shutdownGracefully()
    }

    @Test func `whoever accepts and never answers is given up`() async throws {
        let listener = try await Listener()
        let subscriber = try await Subscriber(url: listener.url, settings: .hasty)
        try await eventually("three attempts") { listener.acceptedCount >= 3 }
        #expect(try await subscriber.use { $0.connection.lastError?.code } == .timedOut)
        try await subscriber.close()
        try await listener.close()
    }
}
