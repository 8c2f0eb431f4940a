// A running `rollcall dev` and everything that it starts.

import Foundation
import Harness
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The first line that `rollcall dev --json` prints.
struct Ready: Decodable {
    let page: String
    let redis: Redis
    let workers: [Worker]

    struct Redis: Decodable {
        let url: String
        let port: Int
        let pid: Int32
        let sentinels: [Server]
        let nodes: [Server]
    }

    struct Server: Decodable {
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
    /// The number of processes that it starts in all.
    private let childCount: Int

    /// - Parameter children: Redis, its watcher, two workers, and a redis-cli that follows a restarted Redis. With
    ///   sentinels, there are more of the first two; on a cluster, more of all except workers.
    init(_ options: [String] = [], children: Int = 5) async throws {
        childCount = children
        folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let process = try ChildProcess(
            [RollcallProgram.path, "dev", "--port", "0", "--json"] + options, environment: ["TMPDIR": folder.path])
        try await eventually("rollcall dev is ready", within: .seconds(60)) {
            try #require(process.isRunning, "rollcall dev ended: \(process.errors)")
            return process.output.contains("\n")
        }
        let line = try #require(process.output.split(separator: "\n").first)
        ready = try #require(try JSONDecoder().decode([String: Ready].self, from: Data(line.utf8))["ready"])
        self.process = process
    }

    /// Kills one of its processes and restarts it, as the page does.
    ///
    /// - Parameter between: what to do while it is down.
    func startAnew(_ part: String, between: () async throws -> Void = {}) async throws {
        #expect(try await post("parts/\(part)/crash") == 204)
        try await between()
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
        try await eventually("all processes run") { children.count == childCount }
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

    /// Stops it as Ctrl-C does, and checks that nothing is left.
    func endsInOrder() async throws {
        try await expectNothingLeft {
            process.signal(SIGINT)
            let code = try await process.exitCode()
            #expect(code == 0)
        }
    }

    /// Returns what a server answers.
    static func ask(_ port: Int, _ words: String...) async throws -> String {
        try await ask(port, words)
    }

    /// Returns what a server answers, as above.
    static func ask(_ port: Int, _ words: [String]) async throws -> String {
        let cli = try ChildProcess(["redis-cli", "-p", "\(port)"] + words)
        try await cli.exitCode()
        try await eventually("the answer is read") { cli.outputEnded }
        return cli.output.trimmingCharacters(in: .newlines)
    }

    /// Returns the process, a child of this one, of the server that listens on a port at the moment.
    func server(on port: Int) async throws -> Int32 {
        let info = try await Self.ask(port, "INFO", "server")
        let pid = try #require(info.firstMatch(of: /process_id:(\d+)/).flatMap { Int32($0.output.1) })
        #expect(children.contains(pid))
        return pid
    }

    private var children: Set<Int32> { ProcessTable.children(of: process.pid) }
}
