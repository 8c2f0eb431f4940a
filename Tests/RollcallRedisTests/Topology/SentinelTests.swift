// A primary found through real sentinels. The fault suite has the rest: failovers by hand and by force, sentinels that
// are cut off together with an old primary, a primary that was made a replica.

import Foundation
import TestSupport
import Testing

@testable import RollcallRedis

@Suite("A primary found through sentinels", .timeLimit(.minutes(2)))
struct SentinelTests {
    /// Waits until both connections are open to this server, and to no other, and work.
    ///
    /// - Parameter server: asked for again and again, since on a busy machine the sentinels may fail over once more.
    private func settled(_ client: TestClient, on server: @autoclosure () async throws -> RedisServer) async throws {
        var port = 0
        try await eventually("both connections are where they belong") {
            let server = try await server()
            port = server.port
            guard try await client.use({ [$0.connectionCount, $1.connectionCount] }) == [1, 1] else { return false }
            return try await server.cli("CLIENT", "LIST").matches(of: #/ name=(test|hears) /#).count == 2
        }
        try await client.subscribe(["presence:{c}"])
        #expect(try await client.publish("\(port)", on: "presence:{c}") == 1)
        try await client.heard("presence:{c}: \(port)")
    }

    @Test("a primary that stalls is left and not gone back to, one that dies is followed, also with no sentinel left")
    func story() async throws {
        let set = try await SentinelSet()
        let client = try await TestClient(set.openURL)
        try await settled(client, on: set.servers[0])
        set.servers[0].process.signal(SIGSTOP)
        let next = try await set.primary(besides: set.servers[0])
        try await settled(client, on: next)
        set.servers[0].process.signal(SIGCONT)
        try await eventually("the old one follows") { try await set.servers[0].cli("ROLE").hasPrefix("slave") }
        try await settled(client, on: next)
        #expect(client.events.contains { $0.hasPrefix("lost") } && client.events.contains("-presence:{c}"))
        // Without sentinels, the primary is found where it was.
        try await set.killSentinels()
        try await next.cli("CLIENT", "KILL", "TYPE", "normal")
        try await settled(client, on: next)
        try await set.startSentinels()
        next.process.kill()
        try await settled(client, on: try await set.primary(besides: next))
        try await client.close()
    }

    @Test(
        "sentinels that are away, that stall, or that watch another primary are skipped; if none is left, it is said why"
    )
    func skipped() async throws {
        let primary = try await RedisServer()
        let other = try await Sentinel(watching: primary.port, as: "other", quorum: 1)
        let right = try await Sentinel(watching: primary.port, as: "mymaster", quorum: 1)
        let stalled = try await Listener()
        let hosts = [try freePort(), primary.port, other.port, right.port].map { "127.0.0.1:\($0)" }
        let all = ([stalled.url.replacing("redis://", with: "")] + hosts).joined(separator: ",")
        let client = try await TestClient("redis+sentinel://\(all)/mymaster")
        try await settled(client, on: primary)
        try await client.close()
        let nobody = try await TestClient("redis+sentinel://127.0.0.1:\(right.port)/nobody", waits: false)
        try await nobody.fails(with: "knows no primary of the name nobody")
        right.process.kill()
        let silent = try await TestClient("redis+sentinel://127.0.0.1:\(right.port)/mymaster", waits: false)
        try await silent.fails(with: "no sentinel answers")
        try await stalled.close()
    }

    @Test("sentinels have users of their own, who need few rights")
    func rights() async throws {
        let primary = try await RedisServer()
        let given = URL(filePath: #filePath).appending(path: "../../../../Config/sentinel.acl").standardized
        let line = try String(contentsOf: given, encoding: .utf8).split(separator: "\n").joined()
        let users = FileManager.default.temporaryDirectory.appending(path: "rollcall-users-\(UUID().uuidString).acl")
        try Data("user default on >open ~* &* +@all\n\(line) >a-password\n".utf8).write(to: users)
        let sentinel = try await Sentinel(
            watching: primary.port, as: "mymaster", quorum: 1,
            Sentinel.Equipment(
                lines: ["port PORT", "aclfile \(users.path)"], way: ["--user", "default", "-a", "open"]))
        let url = "redis+sentinel://rollcall:a-password@127.0.0.1:\(sentinel.port)/mymaster"
        let refused = try await TestClient(
            url, credentials: { Credentials(sentinelUsername: "rollcall", sentinelPassword: "wrong") }, waits: false)
        try await refused.fails(with: "refuse redis.sentinel_user")
        try await refused.close()
        try await sentinel.cli("ACL", "LOG", "RESET")
        let client = try await TestClient(
            url, credentials: { Credentials(sentinelUsername: "rollcall", sentinelPassword: "a-password") })
        try await settled(client, on: primary)
        #expect(try await sentinel.cli("CLIENT", "LIST").contains("name=test-asks"))
        #expect(try await sentinel.cli("ACL", "LOG") == "")
        try await client.close()
    }

    @Test("servers and sentinels may all use TLS")
    func tls() async throws {
        let certificates = try TestCertificates()
        let pair = certificates.first
        let redis = try await SecureRedis(pair, of: certificates)
        let lines = [
            "port 0", "tls-port PORT", "tls-replication yes", "tls-auth-clients no",
            "tls-cert-file \(pair.certificate.path)", "tls-key-file \(pair.key.path)",
            "tls-ca-cert-file \(certificates.authority.path)",
        ]
        let sentinel = try await Sentinel(
            watching: redis.port, as: "mymaster", quorum: 1,
            Sentinel.Equipment(lines: lines, way: ["--tls", "--cacert", certificates.authority.path]))
        let tls = try TLSClient(trusting: certificates)
        let client = try await TestClient(
            "rediss+sentinel://127.0.0.1:\(sentinel.port)/mymaster", credentials: { Credentials(tls: tls) })
        try await settled(client, on: redis.redis)
        try await client.close()
    }
}
