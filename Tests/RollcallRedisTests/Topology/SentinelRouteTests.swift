// Connections to a primary found through real sentinels, through various failovers. Each test starts its servers and
// sentinels, which take seconds to find each other and to fail over, so these tests are slow.

import Foundation
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A primary found through sentinels", .timeLimit(.minutes(2)))
struct SentinelRouteTests {
    /// A connection of each kind on one route, as in a worker.
    private struct Pair {
        let route: any RedisRoute
        let commands: Commands
        let subscriber: Subscriber

        init(_ url: String, credentials: Credentials.Source? = nil) async throws {
            route = try RedisDeployment(url: url).route(credentials: credentials, on: Commands.loop, logger: quiet)
            commands = try await Commands(along: route)
            subscriber = try await Subscriber(along: route)
        }

        /// Waits until both are connected to this server, and to no other.
        ///
        /// - Parameter server: asked for again and again, since on a busy machine the sentinels may fail over once more.
        func settled(
            on server: @autoclosure () async throws -> RedisServer, of set: SentinelSet? = nil
        ) async throws {
            var port = 0
            do {
                try await eventually("both connections are where they belong") {
                    let server = try await server()
                    port = server.port
                    guard try await commands.use({ $0.isConnected }), try await subscriber.use({ $0.isConnected })
                    else { return false }
                    return try await server.cli("CLIENT", "LIST").matches(of: #/ name=test /#).count == 2
                }
            } catch let timeout as Timeout {
                throw Timeout(description: "\(timeout) (port \(port))\n\(try await facts(of: set))")
            }
            try await subscriber.subscribe("c")
            let heard = subscriber.count(of: "c: \(port)")
            #expect(try await commands.send(RedisCommand("PUBLISH", "c", .string("\(port)"))) == .integer(1))
            try await subscriber.heard("c: \(port)", times: heard + 1)
        }

        /// What the connections, the servers and the sentinels say, for the message of a failure.
        private func facts(of set: SentinelSet?) async throws -> String {
            let commands = try await commands.use { "commands: \($0.isConnected), \($0.lastError, default: "")" }
            let subscriber = try await subscriber.use { "subscriber: \($0.isConnected), \($0.lastError, default: "")" }
            return try await ([commands, subscriber] + [set?.facts() ?? ""]).joined(separator: "\n")
        }

        func close() async throws {
            try await commands.close()
            try await subscriber.close()
            await route.close()
        }
    }

    @Test(.enabled(if: isSoaking))
    func `both kinds of connection leave a primary that lives for the one that took its place`() async throws {
        // With shorter periods, the sentinels would close the connections to the old primary almost at once.
        let set = try await SentinelSet(isHasty: false)
        let pair = try await Pair(set.openURL)
        try await pair.settled(on: set.servers[0])
        let next = try await set.failOver()
        try await pair.settled(on: next)
        #expect(try await set.servers[0].cli("CLIENT", "LIST").matches(of: #/ name=test /#).isEmpty)
        // They reconnected before their connections were closed.
        #expect(pair.commands.events == ["connected", "primaryChanged", "connected"])
        #expect(pair.subscriber.count(of: "primaryChanged") == 1)
        try await pair.close()
    }

    @Test func `a primary that dies is followed by another`() async throws {
        let set = try await SentinelSet()
        let pair = try await Pair(set.openURL)
        try await pair.settled(on: set.servers[0])
        set.servers[0].process.kill()
        try await pair.settled(on: try await set.primary(besides: set.servers[0]))
        try await pair.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a primary that stalls is left, and not gone back to when it wakes`() async throws {
        let set = try await SentinelSet()
        let pair = try await Pair(set.openURL)
        try await pair.settled(on: set.servers[0])
        set.servers[0].process.signal(SIGSTOP)
        let next = try await set.primary(besides: set.servers[0])
        try await pair.settled(on: next)
        set.servers[0].process.signal(SIGCONT)
        try await eventually("the old one follows") { try await set.servers[0].cli("ROLE").hasPrefix("slave") }
        try await pair.settled(on: next)
        try await pair.close()
    }

    /// A sentinel that is cut off together with a former primary, which accepts writes until it is reconfigured.
    @Test(.enabled(if: isSoaking), arguments: [true, false])
    func `a sentinel that missed a failover is not believed, be it the first or the last`(isFirst: Bool) async throws {
        let set = try await SentinelSet()
        let next = try await set.failOver()
        let old = try await RedisServer()
        let behind = try await Sentinel(watching: old.port, as: SentinelSet.name, quorum: 1)
        let ports = set.sentinels.map(\.port)
        let hosts = (isFirst ? [behind.port] + ports : ports + [behind.port]).map { "127.0.0.1:\($0)" }
        let pair = try await Pair("redis+sentinel://\(hosts.joined(separator: ","))/\(SentinelSet.name)")
        try await pair.settled(on: next)
        #expect(pair.commands.events == ["connected"], "it went nowhere else")
        // Connections that know of the failover remember it, although no sentinel is left to report it.
        try await set.killSentinels()
        for kind in ["normal", "pubsub"] { try await next.cli("CLIENT", "KILL", "TYPE", kind) }
        try await eventually("they have come back") { pair.commands.events.count { $0 == "connected" } == 2 }
        try await pair.settled(on: next)
        #expect(try await !old.cli("CLIENT", "LIST").contains(" name=test "))
        try await pair.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a sentinel that stalls holds nobody up for long`() async throws {
        let set = try await SentinelSet()
        set.sentinels[0].process.signal(SIGSTOP)
        // The attempt is abandoned after 1.5 s. A busy machine is not slow in every attempt.
        var isSoon = false
        for _ in 0..<3 where !isSoon {
            let began = ContinuousClock.now
            let pair = try await Pair(set.openURL)
            try await pair.commands.connected()
            isSoon = ContinuousClock.now - began < .milliseconds(1400)
            try await pair.close()
        }
        #expect(isSoon)
        let pair = try await Pair(set.openURL)
        let others = Array(set.sentinels.dropFirst())
        try await pair.settled(on: try await set.primary(asking: others), of: set)
        let first = try await set.primary(asking: others)
        first.process.kill()
        try await pair.settled(on: try await set.primary(besides: first, asking: others), of: set)
        set.sentinels[0].process.signal(SIGCONT)
        try await pair.close()
    }

    @Test func `while all sentinels are gone the primary is found where it was`() async throws {
        let set = try await SentinelSet()
        let pair = try await Pair(set.openURL)
        try await pair.settled(on: set.servers[0])
        try await set.killSentinels()
        try await pair.settled(on: set.servers[0])
        #expect(pair.commands.events == ["connected"])
        try await set.servers[0].cli("CLIENT", "KILL", "TYPE", "normal")
        try await pair.settled(on: set.servers[0])
        try await set.startSentinels()
        try await pair.settled(on: try await set.failOver())
        try await pair.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a primary that was made a replica ends the connection, which finds the one there is`() async throws {
        let set = try await SentinelSet()
        let pair = try await Pair(set.openURL)
        try await pair.settled(on: set.servers[0])
        try await set.servers[0].cli("REPLICAOF", "127.0.0.1", "\(set.servers[1].port)")
        let error = try await pair.commands.replies([RedisCommand("SET", "k", "v")])[0].error
        #expect(error?.retry == true)
        try await eventually("a primary takes the write") {
            try await pair.commands.replies([RedisCommand("SET", "k", "v")])[0].error == nil
        }
        try await pair.settled(on: try await set.primary())
        try await pair.close()
    }

    @Test func `of sentinels that are away, or no sentinels, or watch another, the next is asked`() async throws {
        let primary = try await RedisServer()
        let other = try await Sentinel(watching: primary.port, as: "other", quorum: 1)
        let right = try await Sentinel(watching: primary.port, as: "mymaster", quorum: 1)
        let ports = [try freePort(), primary.port, other.port, right.port]
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let pair = try await Pair("redis+sentinel://\(hosts)/mymaster")
        try await pair.settled(on: primary)
        try await pair.close()
    }

    @Test(arguments: [("nobody", "knows no primary of the name nobody"), ("mymaster", "no sentinel answers")])
    func `where there is no primary it is said why`(name: String, sentence: String) async throws {
        let primary = try await RedisServer()
        let sentinel = try await Sentinel(watching: primary.port, as: "mymaster", quorum: 1)
        if name == "mymaster" { sentinel.process.kill() }
        let pair = try await Pair("redis+sentinel://127.0.0.1:\(sentinel.port)/\(name)")
        try await eventually("it is said") {
            try await pair.commands.use { "\($0.lastError, default: "")" }.contains(sentence)
        }
        try await pair.close()
    }

    @Test func `sentinels have users of their own, who need little`() async throws {
        let set = try await RedisServer()
        let users = try await Self.users()
        let sentinel = try await Sentinel(
            watching: set.port, as: "mymaster", quorum: 1,
            Sentinel.Equipment(lines: ["port PORT", "aclfile \(users)"], way: ["--user", "default", "-a", "open"]))
        let url = "redis+sentinel://rollcall:a-password@127.0.0.1:\(sentinel.port)/mymaster"
        let refused = try await Pair(url) { Credentials(sentinelUsername: "rollcall", sentinelPassword: "wrong") }
        try await eventually("it is refused") {
            try await refused.commands.use { "\($0.lastError, default: "")" }.contains("refuse redis.sentinel_user")
        }
        try await refused.close()
        try await sentinel.cli("ACL", "LOG", "RESET")
        let pair = try await Pair(url) { Credentials(sentinelUsername: "rollcall", sentinelPassword: "a-password") }
        try await pair.commands.connected()
        try await eventually("it hears, too") {
            try await sentinel.cli("CLIENT", "LIST").matches(of: /name=rollcall-hears .*sub=2 .*user=rollcall/).count
                == 1
        }
        #expect(try await sentinel.cli("ACL", "LOG") == "")
        try await pair.close()
    }

    @Test func `who may not listen to a sentinel asks it, and does not try to listen again and again`() async throws {
        let set = try await RedisServer()
        let users = try await Self.users()
        let sentinel = try await Sentinel(
            watching: set.port, as: "mymaster", quorum: 1,
            Sentinel.Equipment(lines: ["port PORT", "aclfile \(users)"], way: ["--user", "default", "-a", "open"]))
        try await sentinel.cli("ACL", "SETUSER", "rollcall", "resetchannels")
        let pair = try await Pair("redis+sentinel://rollcall:a-password@127.0.0.1:\(sentinel.port)/mymaster") {
            Credentials(sentinelUsername: "rollcall", sentinelPassword: "a-password")
        }
        try await pair.commands.connected()
        try await eventually("it is told that it may not") { try await sentinel.cli("ACL", "LOG").contains("channel") }
        // It would reconnect within half a second.
        let end = ContinuousClock.now + .seconds(2)
        try await eventually("two seconds pass without it") {
            let isThere = try await sentinel.cli("CLIENT", "LIST").contains("rollcall-hears")
            return ContinuousClock.now > end && !isThere
        }
        #expect(try await sentinel.cli("ACL", "LOG").contains("count\n1\nreason\nchannel"), "asked once")
        try await pair.close()
    }

    /// `Config/sentinel.acl` with a password, and a second user for the test.
    private static func users() async throws -> String {
        let given = URL(filePath: #filePath).appending(path: "../../../../Config/sentinel.acl").standardized
        let line = try String(contentsOf: given, encoding: .utf8).split(separator: "\n").joined()
        let file = FileManager.default.temporaryDirectory.appending(path: "rollcall-users-\(UUID().uuidString).acl")
        try Data("user default on >open ~* &* +@all\n\(line) >a-password\n".utf8).write(to: file)
        return file.path
    }

    @Test func `servers and sentinels may all be under TLS`() async throws {
        let certificates = try TestCertificates()
        let pair = certificates.first
        let redis = try await SecureRedis(pair, of: certificates)
        let tls = [
            "port 0", "tls-port PORT", "tls-replication yes", "tls-auth-clients no",
            "tls-cert-file \(pair.certificate.path)", "tls-key-file \(pair.key.path)",
            "tls-ca-cert-file \(certificates.authority.path)",
        ]
        let sentinel = try await Sentinel(
            watching: redis.port, as: "mymaster", quorum: 1,
            Sentinel.Equipment(lines: tls, way: ["--tls", "--cacert", certificates.authority.path]))
        let client = try TLSClient(trusting: certificates)
        let both = try await Pair("rediss+sentinel://127.0.0.1:\(sentinel.port)/mymaster") { Credentials(tls: client) }
        try await both.settled(on: redis.redis)
        try await both.close()
    }
}
