// The doctor with real servers, each with a certain problem.

import Foundation
import Logging
import NIOCore
import NIOPosix
import RollcallProtocol
import RollcallRedis
import TestSupport
import Testing

@testable import RollcallWorker

@Suite("The doctor", .timeLimit(.minutes(1)))
struct DoctorTests {
    /// A configuration for tests: any ports, and no tokens.
    private func examine(_ url: String, _ overrides: [String: String] = [:]) async -> Examination {
        let usual = ["redis.url": url, "auth.mode": "insecure", "edge.port": "0", "admin.port": "0"]
        let quiet = Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
        return await Doctor.examine(
            file: nil, environment: [:], overrides: usual.merging(overrides) { $1 }, logger: quiet)
    }

    /// Regression: it said nothing of a certificate that had expired.
    @Test("names a certificate that has expired, and one without what is between it and a root")
    func certificates() async throws {
        let files = try TestCertificates()
        for (pair, verdict, words) in [
            (files.expired, Finding.Verdict.failure, "has expired"), (files.first, .warning, "issued by another"),
        ] {
            let seen = await examine(
                "redis://127.0.0.1:1",
                [
                    "edge.certificate": pair.certificate.path, "edge.private_key": pair.key.path,
                    "redis.connect_timeout": "10ms",
                ])
            #expect(seen[.certificates]?.verdict == verdict && seen[.certificates]?.found.contains(words) == true)
        }
        // With the authority, which has issued itself, the chain is whole.
        let whole = files.folder.appending(path: "whole.pem")
        let chain = try Data(contentsOf: files.first.certificate) + Data(contentsOf: files.authority)
        try chain.write(to: whole)
        let seen = await examine(
            "redis://127.0.0.1:1",
            ["edge.certificate": whole.path, "edge.private_key": files.first.key.path, "redis.connect_timeout": "10ms"])
        #expect(seen[.certificates]?.verdict == .ok)
    }

    @Test("finds no problems with a healthy Redis, and leaves nothing there")
    func healthy() async throws {
        let redis = try await RedisServer()
        let seen = await examine(redis.openURL)
        #expect(!seen.findings.contains { $0.verdict == .failure || $0.verdict == .skipped }, "\(seen.findings)")
        #expect(Set(seen.findings.map(\.check)).isSuperset(of: Set(Check.allCases).subtracting([.ports])))
        #expect(seen.outcome == .fine && seen.redis == "redis://127.0.0.1:\(redis.port)/0")
        #expect(seen[.version]?.verdict == .ok)
        // A hundred, or as many as fit into two seconds on a busy machine.
        #expect(seen[.latency]?.found.contains(#/over \d+ PINGs?/#) == true)
        #expect(seen[.clock]?.verdict == .ok)
        #expect(try await redis.cli("DBSIZE") == "0")
        #expect(!(try await redis.cli("CLIENT", "LIST").contains("rollcall-")))
    }

    @Test("fails a Redis that evicts keys")
    func evicts() async throws {
        let redis = try await RedisServer(options: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"])
        let seen = await examine(redis.openURL)
        #expect(seen.outcome == .failures)
        #expect(seen.findings.filter { $0.verdict == .failure }.map(\.check) == [.eviction])
    }

    @Test("fails a Redis that would not load its append-only file, as docs/redis.md once had its users")
    func unloadable() async throws {
        let redis = try await RedisServer(options: ["--appendonly", "yes"])
        #expect(await examine(redis.openURL)[.persistence]?.verdict == .ok)
        try await redis.cli("ACL", "SETUSER", "operator", "on", ">password", "~*", "&*", "+@all")
        let url = "redis://operator:password@127.0.0.1:\(redis.port)"
        let cases: [(rules: [String], Finding.Verdict)] = [
            (["off"], .ok), (["resetkeys"], .failure), (["~*", "-@write"], .failure),
        ]
        for (rules, verdict) in cases {
            try await redis.cli(["-u", url, "ACL", "SETUSER", "default"] + rules)
            #expect(await examine(url)[.persistence]?.verdict == verdict, "\(rules)")
        }
    }

    @Test("distinguishes a missing password from a wrong one, and shows neither")
    func password() async throws {
        let redis = try await RedisServer(options: ["--requirepass", "right"], hasUsers: false)
        let none = await examine("redis://127.0.0.1:\(redis.port)")
        #expect(none.outcome == .noRedis && none[.redis]?.found.contains("asks for a password") == true)
        let wrong = await examine("redis://:wr0ng@127.0.0.1:\(redis.port)")
        #expect(wrong.outcome == .noRedis && wrong[.redis]?.found.contains("refuses the password") == true)
        #expect(!"\(wrong)".contains("wr0ng"))
        #expect(await examine("redis://:right@127.0.0.1:\(redis.port)").outcome == .fine)
    }

    @Test("names the primary of a replica")
    func replica() async throws {
        let primary = try await RedisServer()
        let replica = try await RedisServer(options: ["--replicaof", "127.0.0.1 \(primary.port)"])
        try await eventually("it is a replica") {
            try await primary.cli("INFO", "replication").contains("state=online")
        }
        let seen = await examine(replica.openURL)
        #expect(seen.outcome == .failures)
        #expect(seen[.role]?.advice == "set redis.url to the primary, redis://127.0.0.1:\(primary.port)")
        #expect(await examine(replica.url)[.role]?.verdict == .failure, "a worker's user may ask for the role")
        #expect(await examine(primary.openURL)[.role]?.found == "a primary with 1 replica")
    }

    @Test("with the worker's Redis user, skips what that may not read, and names missing permissions")
    func leastRights() async throws {
        let redis = try await RedisServer()
        let least = await examine(redis.url)
        #expect(least.outcome == .fine)
        for check in [Check.rights, .clock, .role] { #expect(least[check]?.verdict == .ok, "\(check)") }
        #expect(least[.latency]?.found.hasPrefix("p50 ") == true)
        #expect(least[.version]?.verdict == .ok)
        try await redis.cli("ACL", "SETUSER", "rollcall", "-info")
        let blind = await examine(redis.url)
        #expect(blind[.version]?.verdict == .skipped && blind[.version]?.found.contains("+info") == true)
        try await redis.cli("ACL", "SETUSER", "rollcall", "+info", "-zadd")
        let lacking = await examine(redis.url)
        #expect(lacking.outcome == .failures)
        #expect(lacking[.rights]?.advice?.contains("ACL SETUSER rollcall +zadd;") == true)
        try await redis.cli("ACL", "SETUSER", "rollcall", "-ping", "-time")
        #expect(await examine(redis.url)[.latency]?.found.contains("+ping") == true)
    }

    /// Regression: with the permissions on its page, it reported that nearly all of the worker's were missing.
    @Test("works with a separate read-only Redis user")
    func ownUser() async throws {
        let redis = try await RedisServer()
        let page = URL(filePath: #filePath).appending(path: "../../../../docs/doctor.md").standardized
        let rules = try #require(
            String(contentsOf: page, encoding: .utf8).firstMatch(of: #/ACL SETUSER doctor on >\S+ (.*)/#)
        ).output.1
        try await redis.cli(["ACL", "SETUSER", "doctor", "on", ">pw"] + rules.split(separator: " ").map(String.init))
        let seen = await examine("redis://doctor:pw@127.0.0.1:\(redis.port)")
        #expect(seen.outcome == .fine)
        #expect(seen.findings.filter { $0.verdict == .skipped }.map(\.check) == [.rights, .subscriptions])
    }

    @Test("reports that no server answers, and that a server is suspended")
    func away() async throws {
        let port = try freePort()
        let nobody = await examine("redis://127.0.0.1:\(port)")
        #expect(nobody.outcome == .noRedis && nobody[.redis]?.found.contains("Connection refused") == true)
        let redis = try await RedisServer()
        redis.process.signal(SIGSTOP)
        let stalled = await examine(redis.openURL)
        #expect(stalled.outcome == .noRedis && stalled[.redis]?.found.contains("does not answer") == true)
        redis.process.signal(SIGCONT)
    }

    @Test("reports every configuration problem, and still checks Redis")
    func wrongConfiguration() async throws {
        let redis = try await RedisServer()
        let seen = await examine(redis.openURL, ["worker.lease": "2s", "typing.expiry": "1h", "nonsense": "1"])
        #expect(seen.outcome == .wrongConfiguration)
        #expect(seen.findings.count { $0.check == .configuration && $0.verdict == .failure } == 3)
        #expect(seen[.version]?.verdict == .ok)
        let elsewhere = await examine("http://example.org")
        #expect(elsewhere.redis == nil && elsewhere[.redis]?.verdict == .skipped)
    }

    /// Regression: the secret of webhooks was not looked at.
    @Test("looks at the file of each setting that names a secret")
    func secrets() async throws {
        let folder = try Folder()
        let secret = try folder.file("secret", "q7Zk1vR9xW3mB5nD8tY2uH6pL4cF0gJs")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret.path)
        let endings = ["password_file", "secret_file", "token_file", "private_key"]
        let keys = WorkerConfiguration.settings.map(\.key).filter { key in endings.contains { key.hasSuffix($0) } }
        #expect(keys.count > 9)
        for key in keys {
            let seen = await examine("redis://127.0.0.1:1", [key: secret.path])
            #expect(seen.findings.contains { $0.check == .files && $0.found.contains(key) }, "\(key)")
        }
    }

    @Test("reports a secret that all users may read, and ports in use")
    func host() async throws {
        let folder = try Folder()
        let secret = try folder.file("secret", "q7Zk1vR9xW3mB5nD8tY2uH6pL4cF0gJs")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret.path)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = listener.localAddress?.port ?? 0
        let overrides = ["auth.mode": "jwt", "auth.secret_file": secret.path, "edge.port": "\(port)"]
        let seen = await examine("redis://127.0.0.1:1", overrides)
        #expect(seen[.files]?.found.contains("(644)") == true && seen[.files]?.verdict == .warning)
        #expect(seen[.ports]?.found == "edge 127.0.0.1:\(port) is taken")
        let admin = await examine("redis://127.0.0.1:1", ["admin.port": "\(port)"])
        #expect(admin[.ports]?.found == "admin 127.0.0.1:\(port) is taken", "no worker answers there")
        try await listener.close()
        // Either the file is for its owner alone, or its folder is.
        for (rights, place) in [(0o600, secret), (0o644, secret), (0o700, secret.deletingLastPathComponent())] {
            try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: place.path)
            let seen = await examine("redis://127.0.0.1:1", overrides)
            #expect(seen[.files]?.verdict == (rights == 0o644 ? .warning : .ok) && seen[.ports]?.verdict == .ok)
        }
    }

    @Test("the page lists exactly the checks, in their order")
    func page() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../../docs/doctor.md").standardized
        let list = try String(contentsOf: page, encoding: .utf8).split(separator: "## Checks").last ?? ""
        let listed = list.matches(of: #/\n\| ?`(\w+)` ?\|/#).map { String($0.output.1) }
        #expect(listed == Check.allCases.map(\.rawValue))
    }

    @Test("the JSON output is as stable as the names of the checks")
    func json() throws {
        let examination = Examination(
            redis: "redis://h:6379/0",
            findings: [Finding(.version, .ok, "Redis 7"), Finding(.eviction, .failure, "f", advice: "a")])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
            try String(decoding: encoder.encode(examination), as: UTF8.self) == """
                {"findings":[{"check":"version","found":"Redis 7","verdict":"ok"},{"advice":"a","check":"eviction",\
                "found":"f","verdict":"failure"}],"redis":"redis://h:6379/0","verdict":"failure"}
                """)
    }
}

extension Examination {
    subscript(check: Check) -> Finding? { findings.first { $0.check == check } }
}
