// Usage errors are reported as a sentence for people, and as an exit code for programs.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("A worker that cannot or must not start")
struct WrongUsageTests {
    @Test("names the port that is in use", arguments: ["edge", "admin"])
    func portTaken(of part: String) async throws {
        let deployment = try await Deployment(workers: 1)
        let first = deployment.workers[0]
        let taken = try #require(URL(string: part == "edge" ? first.edge : first.admin)?.port)
        let second = try WorkerProcess.start(["redis.url": deployment.redis.url, "\(part).port": "\(taken)"])
        try await expect(second, endsWith: 69, saying: ["The \(part)", "127.0.0.1:\(taken)", "another program"])
        let standing = """
            local time = redis.call('TIME')
            return redis.call('ZCOUNT', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + 1, '+inf')
            """
        #expect(try await deployment.redis.cli("EVAL", standing, "1", "{workers}") == "1", "it leaves no lease")
    }

    @Test("names the Redis that does not answer")
    func noRedis() async throws {
        let port = try freePort()
        let worker = try WorkerProcess.start([
            "redis.url": "redis://:secret@127.0.0.1:\(port)", "redis.connect_timeout": "1s",
        ])
        try await expect(worker, endsWith: 69, saying: ["no Redis", "127.0.0.1:\(port)", "redis.url"])
        #expect(!worker.errors.contains("secret"))
    }

    @Test("lists all problems of its configuration at once")
    func wrongConfiguration() async throws {
        let worker = try WorkerProcess.start([
            "redis.ulr": "redis://10.0.0.7", "worker.heartbeat": "soon", "typing.expiry": "1h",
            "auth.mode": "open", "presence.grace": "1s",
        ])
        try await expect(
            worker, endsWith: 78,
            saying: [
                "redis.ulr", "did you mean redis.url", "worker.heartbeat is \"soon\"", "typing.expiry is \"1h\"",
                "auth.mode is \"open\"", "worker.drain is \"4s\"",
            ])
    }

    @Test("lists problems of the environment and the file together with those of the command line")
    func wrongConfigurationEverywhere() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "rollcall-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("typing:\n  names: many\nshoe: 43\n".utf8).write(to: file)
        let worker = try ChildProcess(
            [RollcallProgram.path, "worker", "--config", file.path, "--set", "edge.port=70000"],
            environment: ["ROLLCALL_REDIS_PREFX": "a:"])
        try await expect(
            worker, endsWith: 78,
            saying: [
                "typing.names", "line 2", "shoe", "line 3", "edge.port", "ROLLCALL_REDIS_PREFX", "auth.secret_file",
            ])
    }

    @Test(
        "reports wrong usage",
        arguments: [
            ["--prot", "8080"], ["--set", "edge.port"], ["here"], ["--set"],
            ["--set", "redis.url=redis://rollcall:password@127.0.0.1"],
        ])
    func wrongUsage(_ arguments: [String]) async throws {
        let worker = try ChildProcess([RollcallProgram.path, "worker"] + arguments)
        try await expect(worker, endsWith: 64, saying: ["Error:", "Usage: rollcall worker"])
        #expect(!worker.errors.contains("password@"))
    }

    private func expect(_ worker: ChildProcess, endsWith code: Int32, saying words: [String]) async throws {
        #expect(try await worker.exitCode() == code)
        try await eventually("its output is read") { worker.outputEnded }
        for word in words {
            #expect(worker.errors.contains(word), "\(word) in:\n\(worker.errors)")
        }
        #expect(worker.output.isEmpty, "standard output is for results: \(worker.output)")
        #expect(!worker.errors.contains("Fatal error"))
    }
}
