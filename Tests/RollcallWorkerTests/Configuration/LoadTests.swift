import Foundation
import Logging
import RollcallProtocol
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Loading a configuration")
struct LoadTests {
    let folder: Folder
    /// The addition that makes the defaults valid: on loopback, a worker may run without keys.
    let insecure = ["auth.mode": "insecure"]

    init() throws {
        folder = try Folder()
    }

    /// Returns the reported problems; fails the test if there are none.
    private func problems(
        file: URL? = nil, environment: [String: String] = [:], _ overrides: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> [ConfigurationProblem] {
        do {
            _ = try WorkerConfiguration.load(file: file, environment: environment, overrides: overrides)
            Issue.record("no problem was reported", sourceLocation: sourceLocation)
            return []
        } catch {
            return error.problems
        }
    }

    @Test("without configuration, all values are the defaults")
    func defaults() async throws {
        let configuration = try WorkerConfiguration.load(environment: [:], overrides: insecure)
        #expect(configuration.redis.url == "redis://127.0.0.1:6379")
        #expect(configuration.worker.lease == .seconds(5))
        #expect(configuration.presence.retention == .seconds(2_592_000))
        #expect(configuration.presence.coalesce == .milliseconds(500))
        #expect(configuration.typing.coalesce == .milliseconds(250))
        #expect(configuration.limits.outboundBytes == 262_144)
        #expect(configuration.log.level == .info)
        #expect(configuration.limits.sessions >= 1)
        #expect(configuration.redis.passwordFile == nil)
        #expect(configuration.edge.origins.isEmpty)
    }

    @Test("a flag overrides a variable, a variable the file, the file the default")
    func precedence() async throws {
        let file = try folder.file(
            "worker.yaml",
            """
            auth: {mode: insecure}
            edge:
              port: 1001
              ping: 11s
            typing: {names: 3}
            """)
        let configuration = try WorkerConfiguration.load(
            file: file, environment: ["ROLLCALL_EDGE_PORT": "1002", "ROLLCALL_EDGE_PING": "12s", "PATH": "/bin"],
            overrides: ["edge.port": "1003"])
        #expect(configuration.edge.port == 1003)
        #expect(configuration.edge.ping == .seconds(12))
        #expect(configuration.typing.names == 3)
        #expect(configuration.admin.port == 8081)
    }

    @Test("every kind of value is read from a file", arguments: [true, false])
    func kinds(dotted: Bool) async throws {
        let file = try folder.file(
            "worker.yaml",
            dotted
                ? """
                auth.mode: insecure
                edge.origins: [https://a.example, "http://b.example:8080"]
                typing.throttle: 0
                log.level: debug
                conversations.default: closed
                access.watch: shared
                redis.prefix: "app:"
                edge.public_url:
                """
                : """
                auth: {mode: insecure}
                edge:
                  origins:
                    - https://a.example
                    - http://b.example:8080
                  public_url: ~
                typing: {throttle: 0}
                log: {level: debug}
                conversations: {default: closed}
                access: {watch: shared}
                redis: {prefix: "app:"}
                """)
        let configuration = try WorkerConfiguration.load(file: file, environment: [:])
        #expect(configuration.auth.mode == .insecure)
        #expect(configuration.edge.origins == ["https://a.example", "http://b.example:8080"])
        #expect(configuration.typing.throttle == .zero)
        #expect(configuration.log.level == .debug)
        #expect(configuration.conversations.default == .closed)
        #expect(configuration.access.watch == .shared)
        #expect(configuration.redis.prefix == "app:")
        #expect(configuration.edge.publicURL == nil)
    }

    @Test("an empty file or only comments give the defaults", arguments: ["", "# nothing\n", "---\n", "edge:\n"])
    func emptyFile(text: String) async throws {
        let file = try folder.file("worker.yaml", text)
        let configuration = try WorkerConfiguration.load(file: file, environment: [:], overrides: insecure)
        #expect(configuration.edge.port == 8080)
    }

    @Test("all problems are reported together, in the order of the keys, each with its source")
    func together() async throws {
        let file = try folder.file(
            "worker.yaml",
            """
            redis:
              connect_timeout: 5
            worker:
              leas: 9s
            typing:
              throttle: 2500ms
            log: {level: loud}
            """)
        let problems = await problems(
            file: file, environment: ["ROLLCALL_EDGE_PROT": "1", "ROLLCALL_ADMIN_PORT": "70000"],
            ["auth.mode": "insecure", "worker.heartbeat": "2s"])
        let expected: [ConfigurationProblem] = [
            ConfigurationProblem(
                .unknownKey, "ROLLCALL_EDGE_PROT", origin: .environment(variable: "ROLLCALL_EDGE_PROT"),
                "there is no such key; did you mean ROLLCALL_EDGE_PORT?"),
            ConfigurationProblem(
                .unknownKey, "worker.leas", origin: .file(name: "worker.yaml", line: 4),
                "there is no such key; did you mean worker.lease?"),
            ConfigurationProblem(
                .malformed, "redis.connect_timeout", value: "5", origin: .file(name: "worker.yaml", line: 2),
                "it must be a duration from 10ms to 5m, written like 250ms, 5s, 2m, 12h or 30d"),
            ConfigurationProblem(
                .inconsistent, "worker.lease", value: "5s",
                "it must be at least three heartbeats, 6s, so that one late heartbeat does not expire the lease"),
            ConfigurationProblem(
                .outOfRange, "admin.port", value: "70000", origin: .environment(variable: "ROLLCALL_ADMIN_PORT"),
                "it must be a whole number from 0 to 65535"),
            ConfigurationProblem(
                .inconsistent, "typing.throttle", value: "2500ms", origin: .file(name: "worker.yaml", line: 6),
                "it must be at most 2s, typing.expiry minus 1s, so that a renewal arrives before typing expires; "
                    + "or 0 for no throttling"),
            ConfigurationProblem(
                .malformed, "log.level", value: "loud", origin: .file(name: "worker.yaml", line: 7),
                "it must be trace, debug, info, notice, warning, error or critical"),
        ]
        #expect(problems == expected)
        #expect(
            ConfigurationProblems(problems).description.split(separator: "\n")[2]
                == "redis.connect_timeout is \"5\" (in worker.yaml, line 2): it must be a duration from 10ms to 5m, "
                + "written like 250ms, 5s, 2m, 12h or 30d")
    }

    @Test(
        "invalid values are reported",
        arguments: [
            ("edge.port", "eighty", ConfigurationProblem.Code.malformed), ("edge.port", "-1", .outOfRange),
            ("edge.port", "", .malformed), ("edge.port", "1,2", .malformed), ("edge.ping", "5 s", .malformed),
            ("edge.ping", "1.5s", .malformed), ("edge.ping", "9999999999s", .malformed), ("edge.ping", "s", .malformed),
            ("edge.ping", "0", .outOfRange), ("edge.ping", "-1s", .malformed), ("worker.lease", "999ms", .outOfRange),
            ("worker.id", "a b", .outOfRange), ("worker.id", "größe", .outOfRange), ("worker.id", "a.b", .outOfRange),
            ("worker.id", String(repeating: "x", count: 65), .outOfRange), ("redis.prefix", "a{b", .outOfRange),
            ("redis.prefix", "a b", .outOfRange), ("redis.url", "", .outOfRange),
            ("redis.url", "http://localhost", .malformed), ("redis.url", "rediss+unix:///s", .malformed),
            ("edge.host", "", .outOfRange), ("edge.host", "a b", .outOfRange),
            ("edge.public_url", "http://a", .outOfRange),
            ("edge.public_url", "wss://", .outOfRange), ("edge.origins", "https://a.example/", .malformed),
            ("edge.origins", "**", .malformed), ("auth.mode", "JWT", .malformed), ("log.format", "xml", .malformed),
            ("conversations.default", "shut", .malformed), ("access.watch", "all", .malformed),
            ("access.shared_members", "0", .outOfRange), ("typing.expiry", "9s", .outOfRange),
            ("limits.sessions", "2000000", .outOfRange), ("limits.message_rate", "0", .outOfRange),
        ])
    func wrongValues(key: String, text: String, code: ConfigurationProblem.Code) async {
        let problems = await problems(insecure.merging([key: text]) { $1 })
        #expect(problems.map(\.key) == [key])
        #expect(problems.first?.code == code)
        #expect(problems.first?.origin == .flag)
    }

    @Test("events are refused on a cluster, which has none yet")
    func eventsOfACluster() async throws {
        let cluster = ["redis.url": "redis+cluster://127.0.0.1:7001", "events.enabled": "true"]
        #expect(await problems(insecure.merging(cluster) { $1 }).map(\.key) == ["events.enabled"])
        let one = ["events.enabled": "true", "events.keep": "5000"]
        let loaded = try WorkerConfiguration.load(environment: [:], overrides: insecure.merging(one) { $1 })
        #expect(loaded.events.enabled && loaded.events.keep == 5000)
    }

    @Test("one wrong value is reported once, and not again by rules that use it")
    func noEcho() async {
        let problems = await problems(["auth.mode": "insecure", "worker.heartbeat": "soon", "worker.lease": "1s"])
        #expect(problems.map(\.key) == ["worker.heartbeat"])
    }

    @Test("without a key for tokens, the message says how to configure one")
    func noKeys() async throws {
        let problem = try #require(await problems().first)
        #expect(problem.code == .missing)
        #expect(problem.key == "auth.secret_file")
        for hint in ["openssl rand -base64 48", "ROLLCALL_AUTH_SECRET_FILE", "auth.jwks_file", "insecure"] {
            #expect(problem.message.contains(hint))
        }
    }

    @Test(
        "insecure mode needs loopback",
        arguments: ["0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "example.org", "127.0.0.1.example"])
    func insecureOffLoopback(host: String) async {
        let problems = await problems(["auth.mode": "insecure", "edge.host": host])
        #expect(problems.map(\.key) == ["auth.mode"])
        #expect(problems.map(\.code) == [.inconsistent])
    }

    @Test(
        "loopback has several names",
        arguments: ["127.0.0.1", "127.9.8.7", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "localhost"])
    func insecureOnLoopback(host: String) async throws {
        _ = try WorkerConfiguration.load(
            environment: [:], overrides: ["auth.mode": "insecure", "edge.host": host, "admin.host": host])
    }

    @Test("an admin port outside loopback needs a valid token")
    func adminToken() async throws {
        let open = await problems(["auth.mode": "insecure", "admin.host": "0.0.0.0"])
        #expect(open.map(\.key) == ["admin.token_file"])
        #expect(open.map(\.code) == [.missing])
        let short = try folder.file("short", "secret\n")
        let weak = await problems([
            "auth.mode": "insecure", "admin.host": "0.0.0.0", "admin.token_file": short.path,
        ])
        #expect(weak.map(\.code) == [.malformed])
        let good = try folder.file("good", "0123456789abcdef\n")
        let configuration = try WorkerConfiguration.load(
            environment: [:],
            overrides: ["auth.mode": "insecure", "admin.host": "0.0.0.0", "admin.token_file": good.path])
        #expect(configuration.admin.token?.text == "0123456789abcdef")
    }

    @Test("contradictory settings are refused")
    func rules() async throws {
        let file = try folder.file("some", "text").path
        func keys(_ overrides: [String: String]) async -> [String] {
            await problems(insecure.merging(overrides) { $1 }).map(\.key)
        }
        #expect(await keys(["worker.heartbeat": "2s"]) == ["worker.lease"])
        #expect(await keys(["worker.drain": "4001ms"]) == ["worker.drain"])
        #expect(await keys(["presence.grace": "500ms"]) == ["worker.drain"])
        #expect(await keys(["presence.grace": "1h", "presence.retention": "1h"]) == ["presence.retention"])
        #expect(await keys(["typing.throttle": "2001ms"]) == ["typing.throttle"])
        #expect(await keys(["typing.expiry": "1s"]) == ["typing.throttle"])
        #expect(await keys(["admin.port": "8080"]) == ["admin.port"])
        #expect(await keys(["edge.certificate": file]) == ["edge.private_key"])
        #expect(await keys(["edge.private_key": file]) == ["edge.certificate"])
        #expect(await keys(["edge.private_key": file, "edge.certificate": file]) == ["edge.certificate"])
        #expect(await keys(["admin.certificate": file]) == ["admin.private_key"])
        #expect(await keys(["admin.private_key": file]) == ["admin.certificate"])
        #expect(await keys(["admin.client_authority": file]) == ["admin.certificate"])
        #expect(await keys(["admin.private_key": file, "admin.certificate": file]) == ["admin.certificate"])
        #expect(await keys(["auth.jwks_url": "http://id.example/keys"]) == ["auth.jwks_url"])
        #expect(await keys(["auth.jwks_url": "https://me@id.example/keys"]) == ["auth.jwks_url"])
        #expect(await keys(["auth.jwks_url": "https://me:x@id.example/keys@here"]) == ["auth.jwks_url"])
        #expect(await keys(["auth.jwks_url": "/keys"]) == ["auth.jwks_url"])
        // Regression: the process ended.
        for key in ["auth.jwks_url", "events.webhook.url"] {
            for port in ["65536", "99999", "0", "-1", "99999999999999999999"] {
                #expect(await keys([key: "https://id.example:\(port)/keys"]) == [key], "\(port)")
            }
        }
        #expect(await keys(["auth.previous_secret_file": file]) == ["auth.previous_secret_file"])
        #expect(await keys(["auth.jwks_authority": file]) == ["auth.jwks_authority"])
        #expect(await keys(["edge.host": "0.0.0.0"]) == ["auth.mode"])
        for url in ["redis://h/1", "rediss://h/1", "redis+unix:///s?db=1", "redis+sentinel://h/m/1"] {
            #expect(await keys(["redis.url": url]) == ["redis.prefix"], "\(url)")
        }
        #expect(
            await keys(["redis.url": "redis://:x@127.0.0.1", "redis.password_file": file]) == [
                "redis.password_file"
            ])
    }

    @Test("extreme but valid settings are accepted")
    func edges() async throws {
        for overrides in [
            ["worker.heartbeat": "1s", "worker.lease": "3s"], ["typing.throttle": "2s"], ["typing.throttle": "0"],
            ["typing.throttle": "3s", "typing.expiry": "4s"], ["admin.port": "0", "edge.port": "0"],
            ["presence.grace": "0", "worker.drain": "0"], ["worker.id": String(repeating: "x", count: 64)],
            ["redis.url": "redis+unix:///run/redis.sock?db=2", "redis.prefix": "a:"],
            ["edge.origins": " https://a.example , https://b.example"],
            ["edge.public_url": "wss://chat.example/v1/connect"], ["limits.sessions": "1"], ["worker.id": ""],
            ["edge.origins": "*"], ["auth.jwks_url": "http://127.0.0.1:8000/keys"],
            ["auth.jwks_url": "http://[::1]/keys"], ["auth.jwks_url": "https://id.example/keys?v=1"],
            ["auth.jwks_url": "https://id.example", "auth.mode": "jwt"],
            ["auth.jwks_url": "https://id.example/jwk/tokens@accounts.example"],
            ["auth.jwks_url": "https://id.example?u=a@b"],
        ] {
            _ = try WorkerConfiguration.load(environment: [:], overrides: insecure.merging(overrides) { $1 })
        }
    }

    @Test("configured files are read, and unreadable ones are reported")
    func files() async throws {
        let password = try folder.file("password", " open sesame \n")
        let secret = try folder.file("secret", "\n  \(String(repeating: "k", count: 32))\n\n")
        let configuration = try WorkerConfiguration.load(
            environment: [:], overrides: ["redis.password_file": password.path, "auth.secret_file": secret.path])
        #expect(configuration.redis.password?.text == " open sesame ")
        #expect(configuration.auth.secret?.bytes == Array(repeating: UInt8(ascii: "k"), count: 32))

        let short = try folder.file("short", String(repeating: "k", count: 31) + "\n")
        let keys = try folder.file("keys", "{}")
        let problems = await problems([
            "redis.password_file": folder.url.path, "auth.secret_file": short.path, "auth.jwks_file": keys.path,
            "edge.certificate": "/nowhere/at/all", "edge.private_key": "/nowhere/either",
        ])
        #expect(
            problems.map(\.key) == [
                "redis.password_file", "edge.certificate", "edge.private_key", "auth.secret_file", "auth.jwks_file",
            ])
        #expect(
            problems.map(\.code) == [.unusableFile, .unusableFile, .unusableFile, .malformed, .unusableFile])
        #expect(problems[1].message == "there is no such file")
        #expect(problems[3].message.contains("31 bytes"))
    }

    @Test("passwords in URLs and values of unknown keys are never shown")
    func secrets() async throws {
        let file = try folder.file("worker.yaml", "redis: {url: 'http://me:hunter2@host', password: hunter2}\n")
        let all = await problems(
            file: file, environment: ["ROLLCALL_REDIS_PASSWORD": "hunter2"], ["auth.secret": "hunter2"])
        #expect(all.map(\.code) == [.unknownKey, .unknownKey, .unknownKey, .malformed, .missing])
        #expect(!ConfigurationProblems(all).description.contains("hunter2"))
        #expect(all.contains { $0.value == "http://***@host" })
        let broken = try folder.file("broken.yaml", "redis: {url: hunter2\nx: [")
        #expect(!ConfigurationProblems(await problems(file: broken, insecure)).description.contains("hunter2"))
        let secret = Secret("hunter2".utf8)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("hunter2"))
        #expect(!dumped.contains("104"))
    }

    @Test("a file that is missing or not a configuration is one problem")
    func brokenFiles() async throws {
        for (text, code) in [
            ("a: [", ConfigurationProblem.Code.unusableFile), ("- a\n- b", .malformed), ("just words", .malformed),
            ("edge: {port: 1, port: 2}", .unusableFile),
        ] {
            let problems = await problems(file: try folder.file("worker.yaml", text), insecure)
            #expect(problems.map(\.key) == ["config"])
            #expect(problems.map(\.code) == [code])
        }
        let missing = await problems(file: folder.url.appending(path: "none.yaml"), insecure)
        #expect(missing.map(\.message) == ["there is no such file"])
    }

    @Test("a key given twice, nested and dotted, is a problem")
    func twice() async throws {
        let file = try folder.file("worker.yaml", "edge: {port: 1}\nedge.port: 2\n")
        let problems = await problems(file: file, insecure)
        #expect(problems.map(\.code) == [.inconsistent])
        #expect(problems.map(\.origin) == [.file(name: "worker.yaml", line: 2)])
    }

    @Test("variables that Kubernetes adds for a service named rollcall are ignored")
    func kubernetes() async throws {
        _ = try WorkerConfiguration.load(
            environment: [
                "ROLLCALL_SERVICE_HOST": "10.0.0.1", "ROLLCALL_SERVICE_PORT_EDGE": "8080", "ROLLCALL_PORT": "tcp://…",
                "ROLLCALL_PORT_8080_TCP_ADDR": "10.0.0.1", "ROLLCALL_STRICT": "1", "ROLLCALL_PROGRAMS": "1",
            ], overrides: insecure)
    }

    @Test("text from outside cannot forge a line of the report")
    func escaped() async {
        let problems = await problems(["auth.mode": "insecure", "edge.host": "a\nredis.url: fine\u{202E}"])
        #expect(ConfigurationProblems(problems).description.split(whereSeparator: \.isNewline).count == 1)
        #expect(problems.first?.description.contains("a\\nredis.url: fine\\u{202e}") == true)
    }
}
