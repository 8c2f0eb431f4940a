// Connections to a primary found through real sentinels, through various failovers. Each test starts its servers and
// sentinels, which take seconds to find each other and to fail over, so these tests are slow.

import Foundation
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A primary found through sentinels", .timeLimit(.minutes(2)))
struct SentinelTests {
    /// Waits until both connections are open to this server, and to no other, and work.
    ///
    /// - Parameter server: asked for again and again, since on a busy machine the sentinels may fail over once more.
    private func settled(
        _ client: TestClient, on server: @autoclosure () async throws -> RedisServer, of set: SentinelSet? = nil
    ) async throws {
        var port = 0
        do {
            try await eventually("both connections are where they belong") {
                let server = try await server()
                port = server.port
                let counts = try await client.use { [$0.connectionCount, $1.connectionCount] }
                guard counts == [1, 1] else { return false }
                return try await server.cli("CLIENT", "LIST").matches(of: #/ name=(test|hears) /#).count == 2
            }
        } catch let timeout as Timeout {
            let error = try await client.use { commands, _ in "\(commands.lastError, default: "")" }
            throw Timeout(description: "\(timeout) (port \(port))\n\(error)\n\(try await set?.facts() ?? "")")
        }
        try await client.subscribe(["presence:{c}"])
        #expect(try await client.publish("\(port)", on: "presence:{c}") == 1)
        try await client.heard("presence:{c}: \(port)")
    }

    @Test func `a primary that dies is followed by another, and one that stalls is not gone back to`() async throws {
        let set = try await SentinelSet()
        let client = try await TestClient(set.openURL)
        try await settled(client, on: set.servers[0])
        set.servers[0].process.signal(SIGSTOP)
        let next = try await set.primary(besides: set.servers[0])
        try await settled(client, on: next)
        set.servers[0].process.signal(SIGCONT)
        try await eventually("the old one follows") { try await set.servers[0].cli("ROLE").hasPrefix("slave") }
        try await settled(client, on: next)
        next.process.kill()
        try await settled(client, on: try await set.primary(besides: next))
        #expect(client.events.contains("lost") && client.events.contains("-presence:{c}"))
        try await client.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a primary that still accepts writes is left for the one that took its place`() async throws {
        // With shorter periods, the sentinels would close the connections to the old primary almost at once.
        let set = try await SentinelSet(isHasty: false)
        let client = try await TestClient(set.openURL)
        try await settled(client, on: set.servers[0])
        let next = try await set.failOver()
        try await settled(client, on: next)
        #expect(try await set.servers[0].cli("CLIENT", "LIST").matches(of: #/ name=(test|hears) /#).isEmpty)
        #expect(client.events.filter { ["connected", "lost"].contains($0) } == ["connected", "lost", "connected"])
        try await client.close()
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
        let client = try await TestClient("redis+sentinel://\(hosts.joined(separator: ","))/\(SentinelSet.name)")
        try await settled(client, on: next)
        #expect(!client.events.contains("lost"), "it went nowhere else")
        // Connections that know of the failover remember it, although no sentinel is left to report it.
        try await set.killSentinels()
        for kind in ["normal", "pubsub"] { try await next.cli("CLIENT", "KILL", "TYPE", kind) }
        try await eventually("they have come back") { client.events.count { $0 == "connected" } == 2 }
        try await settled(client, on: next)
        #expect(try await !old.cli("CLIENT", "LIST").contains(" name=test "))
        try await client.close()
    }

    @Test func `while all sentinels are gone the primary is found where it was`() async throws {
        let set = try await SentinelSet()
        let client = try await TestClient(set.openURL)
        try await settled(client, on: set.servers[0])
        try await set.killSentinels()
        try await settled(client, on: set.servers[0])
        #expect(!client.events.contains("lost"))
        try await set.servers[0].cli("CLIENT", "KILL", "TYPE", "normal")
        try await settled(client, on: set.servers[0])
        try await set.startSentinels()
        try await settled(client, on: try await set.failOver())
        try await client.close()
    }

    @Test(.enabled(if: isSoaking))
    func `a primary that was made a replica is left for the one there is`() async throws {
        let set = try await SentinelSet()
        let client = try await TestClient(set.openURL)
        try await settled(client, on: set.servers[0])
        try await set.servers[0].cli("REPLICAOF", "127.0.0.1", "\(set.servers[1].port)")
        await #expect(throws: RedisError.self) { try await client.send("SET", "k", "v") }
        try await eventually("a primary takes the write") { (try? await client.send("SET", "k", "v")) != nil }
        try await settled(client, on: try await set.primary())
        try await client.close()
    }

    @Test func `sentinels that are away, that stall, or that watch another primary are skipped`() async throws {
        let primary = try await RedisServer()
        let other = try await Sentinel(watching: primary.port, as: "other", quorum: 1)
        let right = try await Sentinel(watching: primary.port, as: "mymaster", quorum: 1)
        let stalled = try await Listener()
        let hosts = [try freePort(), primary.port, other.port, right.port].map { "127.0.0.1:\($0)" }
        let all = [stalled.url.replacing("redis://", with: "")] + hosts
        let client = try await TestClient("redis+sentinel://\(all.joined(separator: ","))/mymaster")
        try await settled(client, on: primary)
        try await client.close()
        try await stalled.close()
    }

    @Test(arguments: [("nobody", "knows no primary of the name nobody"), ("mymaster", "no sentinel answers")])
    func `where there is no primary the error says why`(name: String, sentence: String) async throws {
        let primary = try await RedisServer()
        let sentinel = try await Sentinel(watching: primary.port, as: "mymaster", quorum: 1)
        if name == "mymaster" { sentinel.process.kill() }
        let client = try await TestClient("redis+sentinel://127.0.0.1:\(sentinel.port)/\(name)", waits: false)
        try await eventually("the error says why") {
            try await client.use { commands, _ in "\(commands.lastError, default: "")" }.contains(sentence)
        }
        try await client.close()
    }

    @Test func `sentinels have users of their own, who need few rights`() async throws {
        let set = try await RedisServer()
        let given = URL(filePath: #filePath).appending(path: "../../../../Config/sentinel.acl").standardized
        let line = try String(contentsOf: given, encoding: .utf8).split(separator: "\n").joined()
        let users = FileManager.default.temporaryDirectory.appending(path: "rollcall-users-\(UUID().uuidString).acl")
        try Data("user default on >open ~* &* +@all\n\(line) >a-password\n".utf8).write(to: users)
        let sentinel = try await Sentinel(
            watching: set.port, as: "mymaster", quorum: 1,
            Sentinel.Equipment(
                lines: ["port PORT", "aclfile \(users.path)"], way: ["--user", "default", "-a", "open"]))
        let url = "redis+sentinel://rollcall:a-password@127.0.0.1:\(sentinel.port)/mymaster"
        let refused = try await TestClient(
            url, credentials: { Credentials(sentinelUsername: "rollcall", sentinelPassword: "wrong") }, waits: false)
        try await eventually("it is refused") {
            try await refused.use { commands, _ in "\(commands.lastError, default: "")" }
                .contains("refuse redis.sentinel_user")
        }
        try await refused.close()
        try await sentinel.cli("ACL", "LOG", "RESET")
        let client = try await TestClient(
            url, credentials: { Credentials(sentinelUsername: "rollcall", sentinelPassword: "a-password") })
        try await settled(client, on: set)
        #expect(try await sentinel.cli("CLIENT", "LIST").contains("name=test-asks"))
        #expect(try await sentinel.cli("ACL", "LOG") == "")
        try await client.close()
    }

    @Test func `servers and sentinels may all use TLS`() async throws {
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
        let tlsClient = try TLSClient(trusting: certificates)
        let client = try await TestClient(
            "rediss+sentinel://127.0.0.1:\(sentinel.port)/mymaster", credentials: { Credentials(tls: tlsClient) })
        try await settled(client, on: redis.redis)
        try await client.close()
    }
}
