// A Prometheus next to a worker.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A real Prometheus")
struct PrometheusTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized
    private static let token = "correct-horse-battery-staple-0123456789"

    @Test("scrapes a worker with its token, and answers queries")
    func scrapes() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let tokenFile = folder.appending(path: "token")
        try Data(Self.token.utf8).write(to: tokenFile)
        let settings = [
            "admin.token_file": tokenFile.path, "typing.expiry": "8s", "typing.throttle": "7s",
        ]
        let deployment = try await Deployment(workers: 1, settings: settings)
        let worker = deployment.workers[0]
        let alice = try await worker.device("alice", "phone")
        try await alice.ask(.join("c42", presence: false))
        for typing in [true, true, false] { try await alice.ask(.typing("c42", typing)) }

        let port = try freePort()
        let prometheus = try start(in: folder, scraping: worker, port: port, tokenFile: tokenFile)
        defer { prometheus.kill() }
        let job = #"{job="rollcall"}"#
        for (query, value) in [
            ("up\(job)", "1"), ("rollcall_sessions\(job)", "1"), ("rollcall_typing_signals_total\(job)", "3"),
            ("rollcall_typing_throttled_total\(job)", "1"), ("rollcall_joined_conversations\(job)", "1"),
            ("sum(rollcall_messages_sent_total{type=\"welcome\"})", "1"),
            ("histogram_quantile(0.99, rollcall_typing_publish_seconds_bucket) < bool 10", "1"),
        ] {
            try await eventually("\(query) is \(value)\n\(prometheus.errors.suffix(2000))", every: .milliseconds(100)) {
                try await self.value(of: query, port: port) == value
            }
        }
    }

    @Test(
        "loads the rules and the configuration unchanged, and each alert fires only on its own condition",
        arguments: [
            ["test", "rules", "Tests/Prometheus/alerts.yaml"], ["check", "rules", "Config/prometheus/alerts.yaml"],
            ["check", "config", "--syntax-only", "Config/prometheus/prometheus.yaml"],
        ])
    func rules(_ arguments: [String]) async throws {
        let (command, file) = (arguments.dropLast(), Self.package.appending(path: arguments.last ?? "").path)
        let tool = try ChildProcess(["promtool"] + command + [file])
        let code = try await tool.exitCode()
        try await eventually("its output is read") { tool.outputEnded }
        #expect(code == 0, "\(tool.output)\(tool.errors)")
    }

    @Test("has a test for each alert, and the page about metrics says what to do about it")
    func alertsAreKnown() throws {
        func text(_ file: String) throws -> String {
            try String(contentsOf: Self.package.appending(path: file), encoding: .utf8)
        }
        let alerts = try text("Config/prometheus/alerts.yaml").matches(of: #/alert: (\w+)/#).map { String($0.output.1) }
        let (tests, page) = (try text("Tests/Prometheus/alerts.yaml"), try text("docs/metrics.md"))
        #expect(alerts.count > 15)
        for alert in alerts {
            #expect(tests.contains("\(alert) fires") && tests.contains("\(alert) is silent"), "\(alert)")
            #expect(page.contains("| \(alert) |"), "\(alert)")
        }
    }

    @Test("finds no problems with names, units and help texts")
    func conventions() async throws {
        let deployment = try await Deployment(workers: 1)
        let file = deployment.redis.folder.appending(path: "metrics.txt")
        try Data(try await MetricsPage(deployment.workers[0]).text.utf8).write(to: file)
        let tool = try ChildProcess(["sh", "-c", "promtool check metrics <'\(file.path)'"])
        let code = try await tool.exitCode()
        try await eventually("its output is read") { tool.outputEnded }
        #expect(code == 0 && tool.output.isEmpty, "\(tool.output)\(tool.errors)")
    }

    /// The value of the only series that a query finds.
    private func value(of query: String, port: Int) async throws -> String? {
        struct Answer: Decodable {
            struct Data: Decodable { var result: [Series] }
            struct Series: Decodable { var value: Sample }
            struct Sample: Decodable {
                var text: String

                init(from decoder: any Decoder) throws {
                    var pair = try decoder.unkeyedContainer()
                    _ = try pair.decode(Double.self)
                    text = try pair.decode(String.self)
                }
            }

            var data: Data
        }
        let encoded = query.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        guard let (status, body) = try? await Web.get("http://127.0.0.1:\(port)/api/v1/query?query=\(encoded)"),
            status == 200
        else { return nil }
        let found = try JSONDecoder().decode(Answer.self, from: Data(body.utf8)).data.result
        return found.count == 1 ? found[0].value.text : nil
    }

    private func start(
        in folder: URL, scraping worker: WorkerProcess, port: Int, tokenFile: URL
    ) throws -> ChildProcess {
        let configuration = folder.appending(path: "prometheus.yaml")
        let text = """
            global: {scrape_interval: 500ms, evaluation_interval: 500ms}
            rule_files: ["\(Self.package.path)/Config/prometheus/alerts.yaml"]
            scrape_configs:
              - job_name: rollcall
                authorization: {credentials_file: "\(tokenFile.path)"}
                static_configs: [{targets: ["127.0.0.1:\(worker.adminPort)"]}]
            """
        try Data(text.utf8).write(to: configuration)
        return try ChildProcess([
            "prometheus", "--config.file=\(configuration.path)", "--web.listen-address=127.0.0.1:\(port)",
            "--storage.tsdb.path=\(folder.appending(path: "data").path)",
        ])
    }
}
