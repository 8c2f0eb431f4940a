// Tokens with several roles, and their permissions.

import Foundation
import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import RollcallProtocol
import TestSupport
import Testing

@testable import RollcallServer
@testable import RollcallWorker

@Suite("Roles on the admin port", .timeLimit(.minutes(1)))
struct AdminRoleTests {
    private let folder: Folder
    private let operatorToken = "operator-operator"
    private let appToken = "app-app-app-app-"
    private let readToken = "read-read-read-read"
    private let metricsToken = "metrics-metrics-"

    init() throws {
        folder = try Folder()
    }

    private func configuration() throws -> WorkerConfiguration.Admin {
        var admin = WorkerConfiguration.Admin()
        admin.tokenFile = try folder.file("operator", operatorToken + "\n").path
        admin.token = Secret(operatorToken.utf8)
        admin.appToken = Secret(appToken.utf8)
        admin.readToken = Secret(readToken.utf8)
        admin.metricsTokenFile = try folder.file("metrics", metricsToken + "\n").path
        admin.metricsToken = Secret(metricsToken.utf8)
        return admin
    }

    @Test(
        "the metrics token permits only metrics, the read token what changes nothing, that of an app what its servers need"
    )
    func roles() async throws {
        try await withAdmin(configuration: try configuration()) { ask in
            func status(_ token: String, _ method: String, _ path: String, _ body: String? = nil) async throws -> Int {
                try await AdminClient(port: ask.port, token: token)(method, path, body).status
            }
            // This process has no metrics; a token without permission is refused before that.
            #expect(try await status(metricsToken, "GET", "/metrics") == 404)
            for (method, path) in [
                ("GET", "/v1/workers"), ("GET", "/nowhere"), ("DELETE", "/v1/users/alice"),
                ("POST", "/metrics"),
            ] {
                let answer = try await AdminClient(port: ask.port, token: metricsToken)(method, path)
                #expect(answer.status == 403 && answer.problem == "forbidden", "\(method) \(path)")
            }
            #expect(try await status(metricsToken, "GET", "/health") == 200)
            #expect(try await status(readToken, "GET", "/v1/presence?user=alice") == 200)
            #expect(try await status(readToken, "POST", "/v1/presence", #"{"users":["alice"]}"#) == 200)
            #expect(try await status(readToken, "GET", "/metrics") == 404)
            for (method, path) in [
                ("DELETE", "/v1/users/alice"), ("POST", "/v1/users/alice/revoke"), ("PATCH", "/v1/users/alice"),
                ("PUT", "/v1/conversations/c/members/bob"), ("GET", "/v1/events"), ("POST", "/v1/reach"),
            ] {
                #expect(try await status(readToken, method, path) == 403, "\(method) \(path)")
            }
            #expect(try await status(appToken, "PUT", "/v1/conversations/c/members/bob", #"{"name":""}"#) == 204)
            #expect(try await status(appToken, "POST", "/v1/reach", #"{"users":["alice"]}"#) == 200)
            #expect(try await status(appToken, "GET", "/v1/events") == 404)
            #expect(try await status(appToken, "GET", "/v1/workers") == 200)
            for (method, path) in [("DELETE", "/v1/users/alice"), ("POST", "/v1/users/alice/revoke"), ("POST", "/x")] {
                #expect(try await status(appToken, method, path) == 403, "\(method) \(path)")
            }
            #expect(try await status(operatorToken, "POST", "/v1/users/alice/revoke") == 200)
        }
    }

    @Test("a changed token is accepted within seconds, a previous one while configured, and no invalid one")
    func rotation() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in AdminLogRecorder(lines: lines) }
        let (configuration, metrics) = (try configuration(), PrometheusMetrics())
        try await withAdmin(configuration: configuration, logger: logger, metrics: metrics) { ask in
            func status(_ token: String) async throws -> Int {
                try await AdminClient(port: ask.port, token: token)("GET", "/v1/workers").status
            }
            #expect(try await status(operatorToken) == 200)
            let fresh = "a fresh token".replacing(" ", with: "-") + "-of-an-operator"
            _ = try folder.file("operator", fresh + "\n" + operatorToken + "\n")
            try await eventually("the new token is accepted") { try await status(fresh) == 200 }
            #expect(try await status(operatorToken) == 200)
            _ = try folder.file("operator", fresh + "\n")
            try await eventually("the previous token is refused") { try await status(operatorToken) == 401 }
            _ = try folder.file("operator", "short\n")
            try await eventually("the log reports the unusable token") {
                lines.withLockedValue { $0 }.contains {
                    $0.hasPrefix(
                        "error a new admin token cannot be used; the previous one stays in use key=admin.token_file")
                }
            }
            #expect(try await status(fresh) == 200)
            #expect(try await status(readToken) == 200)
            // Otherwise, holders of the metrics token would be operators.
            _ = try folder.file("metrics", "another-token-for-metrics\n" + fresh + "\n")
            try await eventually("the log reports the shared token") {
                lines.withLockedValue { $0 }.contains { $0.contains("it holds a token of another role") }
            }
            #expect(try await AdminClient(port: ask.port, token: metricsToken)("GET", "/metrics").status == 200)
            #expect(!lines.withLockedValue { $0 }.joined().contains(fresh))
        }
    }

    @Test("wrong tokens are counted, and logged once a minute")
    func trace() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in AdminLogRecorder(lines: lines) }
        let metrics = PrometheusMetrics()
        try await withAdmin(configuration: try configuration(), logger: logger, metrics: metrics) { ask in
            for number in 0..<20 {
                _ = try await AdminClient(port: ask.port, token: "guess-number-\(number)")("DELETE", "/v1/users/alice")
            }
            _ = try await AdminClient(port: ask.port, token: metricsToken)("GET", "/v1/workers")
            let page = try await AdminClient(port: ask.port, token: metricsToken)("GET", "/metrics").body
            #expect(page.contains(#"rollcall_admin_refused_total{reason="unauthorized"} 20"#), "\(page)")
            #expect(page.contains(#"rollcall_admin_refused_total{reason="forbidden"} 1"#))
        }
        #expect(
            lines.withLockedValue { $0 }.filter { $0.contains("refused") }
                == [
                    "warning admin requests refused count=1 reason=unauthorized remote=127.0.0.1",
                    "warning admin requests refused count=1 reason=forbidden remote=127.0.0.1",
                ])
    }

    /// Regression: a line with one reason counted the requests of the other.
    @Test("refused requests are counted separately for each reason")
    func reasons() {
        let lines = NIOLockedValueBox<[String]>([])
        let refusals = AdminRefusals(
            NOOPMetricsHandler.instance, logger: Logger(label: "test") { _ in AdminLogRecorder(lines: lines) })
        let start = NIODeadline.now()
        for second in 0..<60 { refusals.occurred(.unauthorized, from: "h", now: start + .seconds(Int64(second))) }
        refusals.occurred(.forbidden, from: "h", now: start + .seconds(60))
        refusals.occurred(.unauthorized, from: "h", now: start + .seconds(60))
        #expect(
            lines.withLockedValue { $0 } == [
                "warning admin requests refused count=1 reason=unauthorized remote=h",
                "warning admin requests refused count=1 reason=forbidden remote=h",
                "warning admin requests refused count=60 reason=unauthorized remote=h",
            ])
    }

    /// Regression: the token itself was the key, so holders of the audit token had the token to erase users.
    @Test(
        "the audit identifies users as described in docs/admin.md, with a key that is not the token",
        .enabled(if: isSoaking))
    func recipe() async throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../../docs/admin.md").standardized,
            encoding: .utf8)
        let recipe = try #require(page.firstMatch(of: #/```sh subject.sh\n((?:.|\n)*?)```/#)).1
        _ = try folder.file("admin_token", operatorToken + "\nthe-token-before-it\n")
        let shell = try ChildProcess([
            "sh", "-c", "cd \(try folder.file("any", "").deletingLastPathComponent().path)\n\(recipe)",
        ])
        #expect(try await shell.exitCode() == 0, "\(shell.errors)")
        try await eventually("its output is read") { shell.outputEnded }
        let tokens = AdminTokens(try configuration(), logger: Logger(label: "test"))
        let subject = AdminAudit(tokens, logger: Logger(label: "test")).subject(try UserID("alice"))
        #expect(shell.output == subject + "\n")
    }

    @Test("a role without an operator token, one token for two roles, and a short token are refused at the start")
    func rules() async throws {
        let long = try folder.file("long", operatorToken).path
        let other = try folder.file("other", readToken).path
        let short = try folder.file("short", "short").path
        let three = try folder.file("three", "\(operatorToken)\n\(readToken)\n\(metricsToken)").path
        func problems(_ overrides: [String: String]) async -> [String] {
            do {
                _ = try WorkerConfiguration.load(
                    environment: [:], overrides: overrides.merging(["auth.mode": "insecure"]) { first, _ in first })
                return []
            } catch {
                return error.problems.map { "\($0.key) \($0.code)" }
            }
        }
        #expect(await problems(["admin.metrics_token_file": long]) == ["admin.token_file missing"])
        #expect(
            await problems(["admin.token_file": long, "admin.read_token_file": long])
                == ["admin.token_file inconsistent"])
        #expect(
            await problems(["admin.token_file": long, "admin.read_token_file": short])
                == ["admin.read_token_file malformed"])
        #expect(await problems(["admin.token_file": three]) == ["admin.token_file malformed"])
        #expect(await problems(["admin.token_file": long, "admin.read_token_file": other]) == [])
    }
}
