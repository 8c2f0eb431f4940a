// `rollcall dev` starts and stops all of its processes, whatever ends it.

import Foundation
import Harness
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("rollcall dev")
struct DevTests {
    @Test("serves the page and shows what is published in Redis")
    func comesUp() async throws {
        let dev = try await RunningDev()
        let page = try #require(URL(string: dev.ready.page))
        let (html, _) = try await URLSession.shared.data(from: page)
        #expect(String(decoding: html, as: UTF8.self).contains("<title>Rollcall</title>"))
        for name in ["demo.js", "rollcall.js", "demo.css", "icon.svg", "settings.json"] {
            let (_, response) = try await URLSession.shared.data(from: page.appending(path: name))
            #expect((response as? HTTPURLResponse)?.statusCode == 200, "\(name)")
        }
        let cli = try ChildProcess(
            ["redis-cli", "-p", "\(dev.ready.redis.port)", "PUBLISH", "typing:{c42}", #"{"user":"alice"}"#])
        try await cli.exitCode()
        try await eventually("the change is shown") {
            dev.process.output.contains(#"{"channel":"typing:{c42}","message":{"user":"alice"}}"#)
        }
    }

    @Test("stops everything on a signal", arguments: [SIGINT, SIGTERM, SIGHUP])
    func endsOnSignal(_ number: Int32) async throws {
        let dev = try await RunningDev()
        try await dev.expectNothingLeft {
            dev.process.signal(number)
            let code = try await dev.process.exitCode()
            #expect(code == 0)
        }
    }

    @Test("leaves nothing behind when it is killed")
    func endsWhenKilled() async throws {
        let dev = try await RunningDev()
        try await dev.expectNothingLeft { dev.process.signal(SIGKILL) }
    }

    @Test("stops everything when one of its processes crashes", arguments: Part.allCases)
    func endsOnCrash(of part: Part) async throws {
        let dev = try await RunningDev()
        try await dev.expectNothingLeft {
            kill(part.pid(in: dev.ready), SIGKILL)
            let code = try await dev.process.exitCode()
            #expect(code == 69)
        }
        #expect(dev.process.errors.contains("\(part.rawValue) was killed by signal 9"))
    }

    @Test("continues when the page crashes and restarts a process, and stops in order", arguments: ["redis", "w2"])
    func partsOfThePage(_ part: String) async throws {
        let dev = try await RunningDev()
        #expect(dev.ready.redis.port != 6399, "another session could take that port while Redis is down")
        try await dev.startAnew(part)
        #expect(dev.process.isRunning)
        try await dev.expectNothingLeft {
            dev.process.signal(SIGTERM)
            let code = try await dev.process.exitCode()
            #expect(code == 0)
        }
    }

    @Test("leaves nothing behind when killed after the page restarted a process", arguments: ["redis", "w2"])
    func endsWhenKilledLater(_ part: String) async throws {
        let dev = try await RunningDev()
        try await dev.startAnew(part)
        try await dev.expectNothingLeft { dev.process.signal(SIGKILL) }
    }

    @Test("names the port that is in use")
    func portTaken() async throws {
        let first = try await RunningDev()
        let port = try #require(URL(string: first.ready.page)?.port)
        let second = try ChildProcess([RollcallProgram.path, "dev", "--port", "\(port)"])
        #expect(try await second.exitCode() == 69)
        try await eventually("the error is read") { second.outputEnded }
        #expect(second.errors == "rollcall dev: port \(port) is taken by another program\n")
    }

    enum Part: String, CaseIterable {
        case redis = "redis-server"
        case worker = "worker w2"

        func pid(in ready: Ready) -> Int32 {
            switch self {
            case .redis: ready.redis.pid
            case .worker: ready.workers[1].pid
            }
        }
    }
}

/// The first line that `rollcall dev --json` prints.
struct Ready: Decodable {
    let page: String
    let redis: Redis
    let workers: [Worker]

    struct Redis: Decodable {
        let url: String
        let port: Int
        let pid: Int32
    }

    struct Worker: Decodable {
        let pid: Int32
        let edge: String
    }
}

/// A running `rollcall dev` with a temporary folder.
struct RunningDev {
    let process: ChildProcess
    let ready: Ready
    private let folder: URL
    /// Redis, its watcher, two workers, and a redis-cli that follows a restarted Redis.
    private static let childCount = 5

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let process = try ChildProcess(
            [RollcallProgram.path, "dev", "--port", "0", "--json"], environment: ["TMPDIR": folder.path])
        try await eventually("rollcall dev is ready", within: .seconds(60)) {
            try #require(process.isRunning, "rollcall dev ended: \(process.errors)")
            return process.output.contains("\n")
        }
        let line = try #require(process.output.split(separator: "\n").first)
        ready = try #require(try JSONDecoder().decode([String: Ready].self, from: Data(line.utf8))["ready"])
        self.process = process
    }

    /// Kills one of its processes and restarts it, as the page does.
    func startAnew(_ part: String) async throws {
        #expect(try await post("parts/\(part)/crash") == 204)
        #expect(try await post("parts/\(part)/start") == 204)
    }

    /// Sends a request as the page does.
    private func post(_ path: String) async throws -> Int? {
        let page = try #require(URL(string: ready.page))
        var request = URLRequest(url: page.appending(path: path))
        request.httpMethod = "POST"
        request.setValue(String(ready.page.dropLast()), forHTTPHeaderField: "Origin")
        let (_, response) = try await URLSession.shared.data(for: request)
        return (response as? HTTPURLResponse)?.statusCode
    }

    /// Checks that all processes and files from before `end` are gone after it.
    func expectNothingLeft(after end: () async throws -> Void) async throws {
        try await eventually("all processes run") { children.count == Self.childCount }
        let pids = children
        try await end()
        for pid in pids {
            try await eventually("process \(pid) is gone") { !ProcessTable.runs(pid) }
        }
        try await eventually("the temporary folder is empty") {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty
        }
        try FileManager.default.removeItem(at: folder)
    }

    private var children: Set<Int32> { ProcessTable.children(of: process.pid) }
}
