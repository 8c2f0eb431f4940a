// `rollcall doctor` as an operator runs it: its output and exit codes.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("rollcall doctor")
struct DoctorTests {
    private func doctor(_ url: String, _ more: String...) async throws -> (code: Int32, output: String) {
        let usual = ["--set", "edge.port=0", "--set", "admin.port=0"]
        let command = try ChildProcess(
            [RollcallProgram.path, "doctor"] + usual + more, environment: ["ROLLCALL_REDIS_URL": url])
        let code = try await command.exitCode()
        try await eventually("its output is read") { command.outputEnded }
        #expect(command.errors.isEmpty || code == 64)
        return (code, command.output)
    }

    @Test("exits with the documented codes: 0, 1, 69, 78, 64")
    func codes() async throws {
        let redis = try await RedisServer()
        let insecure = ["--set", "auth.mode=insecure"]
        let fine = try await doctor(redis.url, insecure[0], insecure[1])
        #expect(fine.code == 0)
        #expect(fine.output.contains("ok       rights          the user rollcall has all rights that a worker needs"))
        #expect(!fine.output.contains("\u{1B}"))
        try await redis.cli("CONFIG", "SET", "maxmemory", "100mb")
        try await redis.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        let evicts = try await doctor(redis.openURL, insecure[0], insecure[1])
        #expect(evicts.code == 1 && evicts.output.contains("failure  eviction        allkeys-lru"))
        #expect(try await doctor("redis://127.0.0.1:\(try freePort())", insecure[0], insecure[1]).code == 69)
        #expect(try await doctor(redis.url).code == 78)
        #expect(try await doctor(redis.url, "--nonsense").code == 64)
    }

    @Test("next to a running worker, recognizes its ports, and prints JSON on request")
    func besideWorker() async throws {
        let redis = try await RedisServer()
        let worker = try await WorkerProcess("w1", redis: redis.url)
        let told = try await doctor(
            redis.url, "--json", "--set", "auth.mode=insecure", "--set", "edge.port=\(worker.port)",
            "--set", "admin.port=\(try #require(URL(string: worker.admin)?.port))")
        #expect(told.code == 0)
        let object = try JSONSerialization.jsonObject(with: Data(told.output.utf8)) as? [String: Any]
        let findings = object?["findings"] as? [[String: String]] ?? []
        func found(_ check: String) -> [String?] { findings.filter { $0["check"] == check }.map { $0["found"] } }
        let ports = found("ports")
        #expect(ports.count == 2)
        for port in ports { #expect(port?.hasSuffix("is taken, and a worker answers on the admin port") == true) }
        #expect(object?["verdict"] as? String == "warning")
    }

    @Test(
        "names workers with other rules of who may join and ask, as the worker that starts beside them does in its log")
    func mixedFleet() async throws {
        let redis = try await RedisServer()
        let open = try await WorkerProcess("w1", redis: redis.url)
        let rule = ["--set", "auth.mode=insecure", "--set", "access.watch=shared"]
        let alone = try await doctor(redis.url, rule[0], rule[1])
        #expect(alone.code == 0 && alone.output.contains("all living workers have these rules (anyone 100)"))
        let shared = try await WorkerProcess("w2", redis: redis.url, settings: ["access.watch": "shared"])
        try await eventually("its log says so") {
            shared.process.errors.contains("other workers have other rules of access.*")
                && shared.process.errors.contains("anyone 100")
        }
        #expect(!open.process.errors.contains("other workers have"))
        let mixed = try await doctor(redis.url, rule[0], rule[1], rule[2], rule[3])
        #expect(mixed.code == 1)
        #expect(mixed.output.contains("here the rules are shared 100; other living workers have others: w1."))
    }
}
