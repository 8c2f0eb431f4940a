// A worker's metrics agree with what happened, and with the page about them.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A worker's metrics")
struct MetricsTests {
    private static let package = URL(filePath: #filePath).appending(path: "../../../..").standardized

    @Test("agree with what devices did, counted by hand")
    func knownTraffic() async throws {
        // Long enough that all signals fall into one throttle period, even on a busy machine.
        let deployment = try await Deployment(workers: 1, settings: ["typing.expiry": "8s", "typing.throttle": "7s"])
        let worker = deployment.workers[0]
        let alice = try await worker.device("alice", "phone")
        let bob = try await worker.device("bob", "phone")
        for device in [alice, bob] { try await device.ask(.join("c42", presence: false)) }
        for _ in 0..<3 { try await alice.ask(.typing("c42", true)) }
        try await eventually("bob sees it") { try await bob.typing(in: "c42")?.count == 1 }
        try await alice.ask(.typing("c42", false))
        try await alice.send(.goodbye)
        #expect(try await alice.closed() == .normal)
        // Each event loop reports separately: both have reported when Alice's disconnect and Bob's presence are
        // counted.
        let page = try await settled(worker) {
            $0["rollcall_sessions"] == 1 && $0["rollcall_typists"] == 0 && $0["rollcall_typing_published_total"] == 2
                && $0[#"rollcall_connections_closed_total{by="worker",code="1000"}"#] == 1
        }
        let expected: [(String, Double)] = [
            ("rollcall_connections", 1), ("rollcall_connections_accepted_total", 2),
            (#"rollcall_connections_closed_total{by="worker",code="1000"}"#, 1), ("rollcall_joined_conversations", 1),
            ("rollcall_typing_signals_total", 4), ("rollcall_typing_throttled_total", 2),
            ("rollcall_typing_published_total", 2),
            (#"rollcall_messages_sent_total{type="welcome"}"#, 2), ("rollcall_incarnations_total", 1),
            ("rollcall_ready", 1), ("rollcall_redis_up", 1), ("rollcall_lease_held", 1),
        ]
        for (series, value) in expected { #expect(page[series] == value, "\(series)") }
        #expect(page["rollcall_lease_age_seconds"].map { $0 < 10 } == true)
    }

    @Test("distinguish why connections were refused, and how they ended")
    func endings() async throws {
        let deployment = try await Deployment(workers: 1)
        let worker = deployment.workers[0]
        for path in ["/elsewhere", "/v1/connect"] {
            #expect(try await Web.get("http://127.0.0.1:\(worker.port)\(path)").status >= 400)
        }
        try await worker.device("alice", "lost").drop()
        for (opcode, payload) in [(2, []), (8, [0x0B, 0xB8]), (8, [0x03, 0xE9])] as [(UInt8, [UInt8])] {
            let device = try await worker.device("alice", "phone")
            try await device.send(opcode: opcode, payload)
            _ = try await device.closed()
        }
        func closed(_ by: String, _ code: String) -> String {
            "rollcall_connections_closed_total{by=\"\(by)\",code=\"\(code)\"}"
        }
        let page = try await settled(worker) { $0[closed("nobody", "none")] == 1 && $0[closed("peer", "1001")] == 1 }
        #expect(page[closed("worker", "1003")] == 1 && page[closed("peer", "other")] == 1)
        #expect(page["rollcall_connections_accepted_total"] == 4 && page["rollcall_connections"] == 0)
        for reason in ["not_found", "not_websocket"] {
            #expect(page["rollcall_connections_refused_total{reason=\"\(reason)\"}"] == 1, "\(reason)")
        }
    }

    @Test("count what Redis refuses and loses, and what a dead worker left behind")
    func trouble() async throws {
        let deployment = try await Deployment(
            workers: 2, settings: ["worker.lease": "1s", "worker.heartbeat": "200ms"])
        let (worker, redis) = (deployment.workers[0], deployment.redis)
        try await redis.cli("SET", "presence:{foreigner}", "x")
        let foreigner = try await worker.device("foreigner", "phone")
        let orphan = try await deployment.workers[1].device("orphan", "phone")
        let written = ["HGET", "presence:{orphan}", "status"]
        try await eventually("the orphan is written") { try await redis.cli(written) == "online" }
        _ = try await settled(worker) {
            ($0[#"rollcall_redis_errors_total{kind="wrongtype"}"#] ?? 0) > 0 && $0["rollcall_sessions_unwritten"] == 1
        }
        deployment.workers[1].crash()
        _ = try await settled(worker) {
            ($0["rollcall_swept_incarnations_total"] ?? 0) >= 1 && $0["rollcall_swept_devices_total"] == 1
        }
        let killed = try await redis.everywhere("CLIENT", "KILL", "TYPE", "normal").count
        _ = try await settled(worker) {
            ($0[#"rollcall_redis_errors_total{kind="connection_lost"}"#] ?? 0) > 1
                && $0[#"rollcall_redis_connects_total{connection="heartbeats"}"#] == Double(2 * killed)
                && ($0["rollcall_incarnations_total"] ?? 0) > 1 && $0["rollcall_redis_up"] == 1
        }
        foreigner.drop()
        orphan.drop()
    }

    @Test("contain no names, and require the token")
    func names() async throws {
        let token = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString).token")
        defer { try? FileManager.default.removeItem(at: token) }
        try Data("correct-horse-battery-staple-0123456789".utf8).write(to: token)
        let deployment = try await Deployment(workers: 1, settings: ["admin.token_file": token.path])
        let worker = deployment.workers[0]
        let device = try await worker.device("zebediah", "quixotic")
        try await device.ask(.join("jabberwock", presence: true))
        try await device.ask(.watch(["slartibartfast"]))
        try await device.ask(.typing("jabberwock", true))
        #expect(try await Web.get("\(worker.admin)/metrics").status == 401)
        #expect(try await Web.get("\(worker.admin)/metrics", token: "wrong").status == 401)
        let page = try await settled(worker, token: "correct-horse-battery-staple-0123456789") {
            $0["rollcall_typing_signals_total"] == 1
        }
        for name in ["zebediah", "quixotic", "jabberwock", "slartibartfast"] { #expect(!page.text.contains(name)) }
    }

    @Test("are each documented; and no rule, panel or page names a metric that does not exist")
    func catalogue() async throws {
        let deployment = try await Deployment(workers: 1, settings: ["events.enabled": "true"])
        let device = try await deployment.workers[0].device("alice", "phone")
        try await device.send(.goodbye)
        _ = try await device.closed()
        let page = try await settled(deployment.workers[0]) { $0.names.contains("rollcall_connections_closed_total") }
        // This worker has no key set and no certificate, and asks no app's server; AccessTests reads those.
        let all = page.names.union([
            "rollcall_keys_age_seconds", "rollcall_certificate_expires_seconds", "rollcall_certificate_life_seconds",
            "rollcall_access_questions_total", "rollcall_access_waiting", "rollcall_access_seconds",
        ])
        let rows = try named(in: "docs/metrics.md") { $0.hasPrefix("|`rollcall_") || $0.hasPrefix("|`process_") }
        #expect(rows == all)
        for file in ["Config/prometheus/alerts.yaml", "Config/grafana/rollcall.json", "docs/metrics.md"] {
            #expect(try named(in: file).subtracting(all) == [], "\(file)")
        }
    }

    @Test("have a dashboard whose every panel has a query")
    func dashboard() throws {
        let data = try Data(contentsOf: Self.package.appending(path: "Config/grafana/rollcall.json"))
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]]).filter { $0["type"] as? String != "row" }
        #expect(panels.count >= 12)
        for panel in panels {
            let targets = try #require(panel["targets"] as? [[String: Any]])
            #expect(!targets.isEmpty && targets.allSatisfy { ($0["expr"] as? String)?.isEmpty == false })
        }
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
    }

    /// Returns the page once the event loops have reported what `condition` checks.
    private func settled(
        _ worker: WorkerProcess, token: String? = nil, _ condition: (MetricsPage) -> Bool
    ) async throws -> MetricsPage {
        var page: MetricsPage?
        try await eventually("the loops report", every: .milliseconds(100)) {
            page = try await MetricsPage(worker, token: token)
            return page.map(condition) == true
        }
        return try #require(page)
    }

    /// The metrics that a file names; parts of a histogram count as the histogram.
    private func named(in file: String, where line: (Substring) -> Bool = { _ in true }) throws -> Set<String> {
        let text = try String(contentsOf: Self.package.appending(path: file), encoding: .utf8)
        let names = text.split(separator: "\n").filter(line).flatMap {
            $0.matches(of: #/\b(?:rollcall|process)_[a-z_]+[a-z]\b/#).map { String($0.output) }
        }
        return Set(names.map { $0.replacing(#/_(bucket|sum|count)$/#, with: "") }).subtracting([
            "rollcall_metrics_token"
        ])
    }
}
