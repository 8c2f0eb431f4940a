// `rollcall load` against two workers and a Redis: each scenario at a small size, and error cases.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("rollcall load", .enabled(if: isSoaking))
struct LoadTests {
    /// The report that `--json` writes.
    private struct Report: Decodable {
        struct Figures: Decodable {
            var count: Int
            var p50: Double
            var max: Double
        }

        struct Counts: Decodable {
            var present, failures, losses, expelled, changes, expected, seen: Int
            var goodbyes: [String: Int]
        }

        struct Cost: Decodable {
            var seconds: Double
            var cores: Double
        }

        var devices: Int
        var processes: Int
        var interrupted: Bool
        var counts: Counts
        var times: [String: Figures]
        var allBack: Double?
        var load: Cost
        var workers: Cost?

        enum CodingKeys: String, CodingKey {
            case devices, processes, interrupted, counts, times
            case allBack = "all_back"
            case load, workers
        }
    }

    private func start(_ deployment: Deployment, _ arguments: [String], json: URL) throws -> ChildProcess {
        try ChildProcess(
            [RollcallProgram.path, "load", "--admin", deployment.workers[0].admin, "--json", json.path]
                + deployment.workers.flatMap { ["--url", $0.edge] } + arguments)
    }

    /// Runs a load to its end.
    private func report(_ deployment: Deployment, _ arguments: String...) async throws -> Report {
        let file = FileManager.default.temporaryDirectory.appending(path: "load-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let load = try start(deployment, arguments, json: file)
        #expect(try await load.exitCode(within: .seconds(60)) == 0, "\(load.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(contentsOf: file))
    }

    @Test("keeps idle devices connected and reports their cost; two processes write one report")
    func idle() async throws {
        let deployment = try await Deployment(workers: 2, settings: ["worker.heartbeat": "200ms"])
        let report = try await report(deployment, "--devices", "90", "--processes", "2", "--for", "1s")
        #expect((report.devices, report.processes, report.interrupted) == (90, 2, false))
        #expect((report.counts.present, report.counts.losses, report.counts.failures) == (90, 0, 0))
        let witness = try #require(report.times["witness"])
        #expect(witness.count >= 10)
        #expect(report.load.seconds > 0)
        #expect(try #require(report.workers).seconds > 0)
    }

    @Test("connects at a given rate, and measures each connection from when it was due")
    func storm() async throws {
        let deployment = try await Deployment(workers: 2)
        let report = try await report(
            deployment, "--devices", "100", "--rate", "200", "--scenario", "storm", "--for", "20s")
        #expect(report.counts.present + report.counts.expelled == 100, "\(report)")
        #expect(report.times["welcome"]?.count == 100)
        #expect(report.times["online"]?.count == 100)
    }

    @Test("chats, and measures typing updates, in two processes")
    func chat() async throws {
        let deployment = try await Deployment(workers: 2)
        let report = try await report(
            deployment, "--devices", "60", "--bursts", "40", "--processes", "2", "--scenario", "chat", "--for", "2s")
        #expect(report.counts.changes > 20)
        #expect(report.counts.seen > report.counts.expected * 9 / 10)
        #expect(report.times["typing"]?.count == report.counts.seen)
    }

    @Test("measures typing in a room across two processes, which know when each signal was due")
    func room() async throws {
        let deployment = try await Deployment(workers: 2)
        let report = try await report(
            deployment, "--devices", "40", "--typists", "4", "--processes", "2", "--scenario", "room", "--for", "3s")
        #expect(report.counts.changes >= 2 * 4, "each change is known to both")
        #expect(report.counts.seen > report.counts.expected * 9 / 10)
        // If a process did not know when the other's signal was due, it would measure from an earlier time.
        #expect(try #require(report.times["typing"]).max < 1_400)
    }

    @Test("reconnects after its connections were cut")
    func cut() async throws {
        let deployment = try await Deployment(workers: 2)
        let report = try await report(deployment, "--devices", "60", "--scenario", "reconnect", "--for", "3s")
        #expect((report.counts.losses, report.counts.present) == (60, 60))
        #expect(report.times["away"]?.count == 60)
        #expect(try #require(report.allBack) < 2)
    }

    @Test("reconnects to the worker that a draining worker names")
    func drain() async throws {
        let deployment = try await Deployment(
            workers: 2, settings: ["worker.drain": "1s", "presence.grace": "3s"])
        let pid = deployment.workers[0].process.pid
        let report = try await report(
            deployment, "--devices", "60", "--scenario", "reconnect", "--outage", "drain=\(pid)", "--for", "4s")
        // Half of them, except for those that got no answer at first and connected to the other worker.
        #expect((15...45).contains(report.counts.losses))
        #expect(report.counts.goodbyes == ["draining": report.counts.losses])
        #expect(report.counts.present == 60)
    }

    @Test("prints the report so far when interrupted")
    func interrupted() async throws {
        let deployment = try await Deployment(workers: 1)
        let file = deployment.redis.folder.appending(path: "report.json")
        let load = try start(deployment, ["--devices", "20", "--for", "10m"], json: file)
        try await eventually("it measures", within: .seconds(60)) { load.errors.contains(" s of 600 s") }
        load.signal(SIGINT)
        #expect(try await load.exitCode() == 0)
        let report = try JSONDecoder().decode(Report.self, from: Data(contentsOf: file))
        #expect(report.interrupted)
        #expect(report.counts.present == 20)
    }

    @Test("signs tokens for workers that require them, and says what to do without a key")
    func tokens() async throws {
        let secret = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: secret) }
        try Data("a secret of at least thirty-two bytes".utf8).write(to: secret)
        let deployment = try await Deployment(
            workers: 1, settings: ["auth.mode": "jwt", "auth.secret_file": secret.path])
        let report = try await report(deployment, "--devices", "10", "--for", "1s", "--secret-file", secret.path)
        #expect(report.counts.present == 10)
        let file = deployment.redis.folder.appending(path: "report.json")
        try await expect(
            try start(deployment, ["--devices", "10"], json: file), endsWith: 69, saying: ["4100", "--secret-file"])
    }

    @Test("names the address that does not answer")
    func nobody() async throws {
        let url = "ws://127.0.0.1:\(try freePort())/v1/connect"
        try await expect(
            try ChildProcess([RollcallProgram.path, "load", "--url", url]), endsWith: 69,
            saying: ["no worker answers at \(url)", "Connection refused", "--url"])
    }

    @Test(
        "reports wrong usage",
        arguments: [
            (["--url", "http://127.0.0.1"], 69, "is no address of a worker"),
            (["--scenario", "witness"], 64, "--scenario is idle, storm"),
            (["--devices", "9000000", "--processes", "1"], 64, "use --processes"),
            (["--outage", "kill"], 64, "kill=PID"), (["--for", "soon"], 64, "--for"),
        ])
    func wrongUsage(_ arguments: [String], _ code: Int32, _ words: String) async throws {
        try await expect(
            try ChildProcess([RollcallProgram.path, "load"] + arguments), endsWith: code, saying: [words])
    }

    private func expect(_ load: ChildProcess, endsWith code: Int32, saying words: [String]) async throws {
        #expect(try await load.exitCode() == code)
        try await eventually("its output is read") { load.outputEnded }
        for word in words { #expect(load.errors.contains(word), "\(word) in:\n\(load.errors)") }
        #expect(load.output.isEmpty)
    }
}
