// A private Redis and two workers as processes of their own, as in production. The demo page may crash each of them and
// start it again. If one ends otherwise, all end.

import Foundation
import RollcallProtocol
import RollcallWorker

/// A running private `redis-server`: on the loopback interface, without persistence.
struct DevRedis: Sendable, Encodable {
    let port: Int
    let pid: Int32
    /// The `redis.url` of the workers.
    var url: String { "redis://127.0.0.1:\(port)" }

    private enum CodingKeys: CodingKey { case port, pid, url }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encode(port, forKey: .port)
        try object.encode(pid, forKey: .pid)
        try object.encode(url, forKey: .url)
    }
}

/// A running worker, as described by its `ready` line.
struct DevWorker: Sendable, Encodable {
    let id: String
    let pid: Int32
    let incarnation: String
    let edge: String
    let admin: String

    /// Parses `ready worker=… edge=… admin=…`.
    init?(id: String, pid: Int32, readyLine line: String) {
        let words = line.split(separator: " ")
        let fields = words.dropFirst().compactMap { ByteString(String($0)).cut(at: "=") }
        func field(_ name: ByteString) -> String? { fields.first { $0.before == name }?.after.string }
        guard words.first == "ready", let incarnation = field("worker"), let edge = field("edge"),
            let admin = field("admin")
        else { return nil }
        (self.id, self.pid, self.incarnation, self.edge, self.admin) = (id, pid, incarnation, edge, admin)
    }
}

/// The processes. Their names are `redis`, `w1` and `w2`.
actor Deployment {
    /// What differs between those who use a deployment.
    struct Settings: Sendable {
        /// The port of Redis that is tried first, so that commands in a shell's history keep working.
        var redisPort: Int?
        /// Further keys of the workers' configuration.
        var overrides: [String] = []
    }

    static let names = ["redis", "w1", "w2"]

    private let settings: Settings
    private let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-dev-\(UUID().uuidString)")
    private var children: [String: Child] = [:]
    private var starting: [String: Task<Void, any Error>] = [:]
    private var isOver = false
    private var watcher: Child?
    private(set) var redis = DevRedis(port: 0, pid: 0)
    private(set) var workers: [String: DevWorker] = [:]
    private nonisolated let failures = AsyncStream<PartFailed>.makeStream()

    private init(_ settings: Settings) {
        self.settings = settings
    }

    /// Does `work` while a deployment runs, and then removes all of it.
    ///
    /// - Throws: ``PartFailed`` if a part cannot start or ends by itself; otherwise what `work` throws.
    static func during<Result: Sendable>(
        _ settings: Settings, _ work: @escaping @Sendable (Deployment) async throws -> Result
    ) async throws -> Result {
        let deployment = Deployment(settings)
        let result = await Swift.Result {
            try await deployment.begin()
            return try await withThrowingTaskGroup(of: Result.self) { group in
                group.addTask { try await work(deployment) }
                group.addTask {
                    for await failure in deployment.failures.stream { throw failure }
                    throw CancellationError()
                }
                defer { group.cancelAll() }
                guard let result = try await group.next() else { throw CancellationError() }
                return result
            }
        }
        await deployment.end()
        return try result.get()
    }

    /// Whether the process runs and is ready.
    func isUp(_ name: String) -> Bool { children[name] != nil && starting[name] == nil }

    /// The workers, in order.
    var ready: [DevWorker] { Self.names.compactMap { workers[$0] } }

    /// Ends a process like `kill -9`. No effect while none runs.
    func crash(_ name: String) async {
        guard isUp(name), let child = children.removeValue(forKey: name) else { return }
        await child.crash()
    }

    /// Starts a process in place of a crashed one. No effect while one runs; waits for one that is starting.
    func start(_ name: String) async throws {
        if let task = starting[name] { return try await task.value }
        guard children[name] == nil, !isOver else { return }
        let task = Task { name == "redis" ? try await startRedis() : try await startWorker(name) }
        starting[name] = task
        defer { starting[name] = nil }
        try await task.value
    }

    private func begin() async throws {
        let watcher = try await Self.watch(folder)
        self.watcher = watcher
        for name in Self.names { try await start(name) }
    }

    /// Stops everything, the workers first. It also completes if the task is cancelled.
    private func end() async {
        isOver = true
        for task in starting.values { try? await task.value }
        for name in Self.names.reversed() { await children[name]?.stop() }
        watcher?.say("none")
        watcher?.letGo()
        _ = await watcher?.ending.value
    }

    private func startRedis() async throws {
        let program = try Program.find("redis-server")
        // Workers expect Redis where it was before.
        let ports =
            redis.port > 0
            ? [redis.port]
            : [settings.redisPort].compactMap(\.self) + (0..<20).map { _ in .random(in: 20_000..<30_000) }
        var output: [String] = []
        for port in ports {
            let server = try Child(
                "redis-server", program: program,
                arguments: [
                    "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
                    folder.path,
                ])
            watcher?.say("\(server.pid)")
            output = []
            for await line in server.lines {
                if line.contains("Ready to accept connections") {
                    redis = DevRedis(port: port, pid: server.pid)
                    return became("redis", server)
                }
                output.append(line)
            }
            await server.stop()
            try Task.checkCancellation()
            guard output.contains(where: { $0.contains("Address already in use") }) else { break }
        }
        throw PartFailed("redis-server did not start:\n" + output.suffix(5).joined(separator: "\n"))
    }

    private func startWorker(_ name: String) async throws {
        // Clients know the worker's address, so its successor listens on the same ports.
        let last = workers[name]
        let ports = [("edge.port", last?.edge), ("admin.port", last?.admin)].map { key, url in
            "\(key)=\(url.flatMap(URL.init(string:))?.port ?? 0)"
        }
        let keys =
            [
                "redis.url=\(redis.url)", "worker.id=\(name)", "worker.drain=0s", "auth.mode=insecure",
                "log.level=warning",
            ] + ports + settings.overrides
        let child = try Child(
            "worker \(name)", program: Program.own,
            arguments: ["worker", "--exit-on-stdin-end"] + keys.flatMap { ["--set", $0] },
            errors: { Output.log("\(name) | \($0)") })
        for await line in child.lines {
            guard let worker = DevWorker(id: name, pid: child.pid, readyLine: line) else { continue }
            workers[name] = worker
            return became(name, child)
        }
        await child.stop()
        try Task.checkCancellation()
        throw PartFailed("\(child.name) \(await child.ending.value)")
    }

    private func became(_ name: String, _ child: Child) {
        children[name] = child
        Task { [failures] in
            let ending = await child.ending.value
            if !child.wasStopped { failures.continuation.yield(PartFailed("\(child.name) \(ending)")) }
        }
    }

    /// Starts a shell that removes the folder and kills the server if this process ends without doing so: Redis does
    /// not end with its standard input, but the shell does.
    private static func watch(_ folder: URL) async throws -> Child {
        let script = """
            trap '' INT TERM HUP PIPE
            pid=none
            mkdir -m 700 -- "$1" || exit 1
            echo made
            while read -r word; do pid=$word; done
            [ "$pid" = none ] || kill -9 "$pid"
            rm -rf -- "$1"
            """
        let watcher = try Child(
            "watcher", program: URL(fileURLWithPath: "/bin/sh"),
            arguments: ["-c", script, "rollcall-dev-watcher", folder.path])
        for await line in watcher.lines {
            guard line == "made" else { throw PartFailed(line) }
            return watcher
        }
        throw CancellationError()
    }
}
