import TestSupport
import Testing

@testable import RollcallRedis

@Suite struct AuthenticationTests {
    @Test func `the right password opens both kinds of connection`() async throws {
        let redis = try await RedisServer(options: ["--requirepass", "s3cret word"], hasUsers: false)
        let url = "redis://:s3cret%20word@127.0.0.1:\(redis.port)"
        let commands = try await Commands(of: redis, url: url)
        let subscriber = try await Subscriber(of: redis, url: url)
        try await commands.connected()
        try await subscriber.subscribe("c")
        #expect(try await commands.send(RedisCommand("PUBLISH", "c", "hello")) == .integer(1))
        try await subscriber.heard("c: hello")
        try await commands.close()
        try await subscriber.close()
    }

    @Test(arguments: [":wrong@", "nobody:wrong@", ""])
    func `a wrong password or none is told from other failures, and tried again`(credentials: String) async throws {
        let redis = try await RedisServer(options: ["--requirepass", "secret"], hasUsers: false)
        let url = "redis://\(credentials)127.0.0.1:\(redis.port)"
        let commands = try await Commands(of: redis, url: url)
        let subscriber = try await Subscriber(of: redis, url: url)
        try await eventually("both are refused") {
            let codes = [try await commands.use { $0.lastError }, try await subscriber.use { $0.connection.lastError }]
            return codes.allSatisfy { $0?.code == .authentication && !"\($0!)".contains("wrong") }
        }
        #expect(try await commands.use { !$0.isConnected })
        try await redis.cli("-a", "secret", "CONFIG", "SET", "requirepass", "wrong")
        if credentials == ":wrong@" {
            try await commands.connected()
            try await subscriber.subscribe("c")
        }
        try await commands.close()
        try await subscriber.close()
    }

    @Test func `a password for a Redis that has none is refused, not ignored`() async throws {
        let redis = try await RedisServer(hasUsers: false)
        let commands = try await Commands(of: redis, url: "redis://:secret@127.0.0.1:\(redis.port)")
        try await eventually("it is refused") { try await commands.use { $0.lastError?.code == .authentication } }
        try await commands.close()
    }

    @Test func `a user with few rights can still work`() async throws {
        let redis = try await RedisServer()
        try await redis.cli("ACL", "SETUSER", "app", "on", ">pw", "~*", "&c*", "+get", "+subscribe", "+unsubscribe")
        let url = "redis://app:pw@127.0.0.1:\(redis.port)"
        let commands = try await Commands(of: redis, url: url, settings: .hasty)
        try await commands.connected()
        #expect(try await commands.send(RedisCommand("GET", "k")) == .null)
        #expect(try await commands.replies([RedisCommand("SET", "k", "v")])[0].error?.code == .server(kind: "NOPERM"))

        let subscriber = try await Subscriber(of: redis, url: url, settings: .hasty)
        try await subscriber.subscribe("c1")
        try await subscriber.use { $0.subscribe("forbidden") }
        try await subscriber.heard("server(kind: \"NOPERM\")", times: 2)
        #expect(try await subscriber.use { $0.isConfirmed("c1") && !$0.isConfirmed("forbidden") })
        try await commands.close()
        try await subscriber.close()
    }
}
