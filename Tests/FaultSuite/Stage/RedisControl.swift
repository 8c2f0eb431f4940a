// The Redis of a deployment, which a fault can kill, restart with other data, or put into a certain state.

internal import Foundation
internal import Harness
internal import NIOConcurrencyHelpers
internal import TestSupport

/// A Redis that can be replaced by another one without the workers noticing a different server.
public final class RedisControl: Sendable {
    private let present: NIOLockedValueBox<TestRedis>
    /// The proxies in front of its servers, if there are several.
    let network: Network
    private let folder: URL
    private let clock: SettableClock?

    /// Whether the data is spread over several primaries, each of which may lose its own.
    var isCluster: Bool { whole.kind == .cluster }

    init(_ kind: TestRedis.Kind, setsClock: Bool = false) async throws {
        let clock = setsClock ? try SettableClock() : nil
        self.clock = clock
        folder = FileManager.default.temporaryDirectory.appending(
            path: "rollcall-faults-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let network = Network()
        self.network = network
        let redis =
            if let clock { TestRedis(try await RedisServer(clock: clock)) } else {
                try await TestRedis(kind, deadAfter: kind.patience) { try await network.gate($0) }
            }
        present = NIOLockedValueBox(redis)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The whole deployment.
    var whole: TestRedis { present.withLockedValue { $0 } }
    /// The only server.
    private var server: RedisServer { whole.servers[0] }

    /// Returns a worker's connections to Redis, and the Redis URL for its configuration.
    func way(of worker: Int) async throws -> (Ways, url: String) {
        guard whole.kind == .server else { return (network.ways(of: worker), whole.url) }
        // A separate proxy for each worker has more capacity than a shared one.
        let proxy = try await Proxy(to: server.port, isRedis: true)
        return (Ways([proxy]), RedisServer.workerURL(port: proxy.port))
    }

    /// Makes another server this Redis; the previous one ends.
    func become(_ other: RedisServer) { present.withLockedValue { $0 = TestRedis(other) } }

    /// Runs `redis-cli` with these arguments.
    ///
    /// - Returns: what it printed.
    @discardableResult
    func cli(_ arguments: String...) async throws -> String {
        try await whole.cli(arguments)
    }

    /// Runs `redis-cli` against each primary.
    func everywhere(_ arguments: String...) async throws {
        for server in try await whole.primaries() { try await server.cli(arguments) }
    }

    /// Sets the server's clock forward by this much, or back if it is negative.
    func setClock(by step: Duration) throws {
        guard let clock else { preconditionFailure("this stage has no Redis whose clock can be set") }
        try clock.advance(by: step)
    }

    /// Returns the server's time, in milliseconds since 1970.
    func time() async throws -> Int {
        let parts = try await cli("TIME").split(whereSeparator: \.isNewline).compactMap { Int($0) }
        return parts.count == 2 ? parts[0] * 1000 + parts[1] / 1000 : 0
    }

    /// Returns how often each command was called so far, by clients or by scripts.
    func calls() async throws -> [String: Int] {
        try await calls(at: whole.primaries()).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// The same as ``calls()``, for each of these servers.
    func calls(at servers: [RedisServer]) async throws -> [[String: Int]] {
        var calls: [[String: Int]] = []
        for server in servers {
            var own: [String: Int] = [:]
            for line in try await server.cli("INFO", "commandstats").split(whereSeparator: \.isNewline) {
                guard let match = line.firstMatch(of: #/cmdstat_([a-z|-]+):calls=(\d+)/#) else { continue }
                own[String(match.1), default: 0] += Int(match.2) ?? 0
            }
            calls.append(own)
        }
        return calls
    }

    /// Returns the write commands, and the command that workers publish with, except on Sentinel: sentinels publish
    /// too.
    func writes() async throws -> Set<String> {
        let writing = try await cli("ACL", "CAT", "write").split(whereSeparator: \.isNewline).map(String.init)
        return Set(writing).union(whole.kind == .sentinel ? [] : [whole.publishing.lowercased()])
    }

    /// Lets a shell write lines to one `redis-cli`, with pauses. This also works while the server accepts no other
    /// connections.
    func script(_ shell: String) async throws {
        let child = try ChildProcess(["sh", "-c", "(\(shell)) | redis-cli -p \(server.port)"])
        try await child.exitCode(within: .seconds(60))
    }

    /// Kills it as a crash would.
    func kill() async throws {
        try await whole.kill()
    }

    /// Saves what the server holds now, so that a server can be started with it later.
    func snapshot() async throws -> Snapshot {
        try await cli("SAVE")
        let copy = folder.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: server.folder.appending(path: "dump.rdb"), to: copy.appending(path: "dump.rdb"))
        return Snapshot(folder: copy)
    }

    struct Snapshot: Sendable {
        fileprivate let folder: URL
    }

    /// Starts another server in place of the killed one, empty or with a snapshot.
    ///
    /// - Returns: its port.
    func start(with snapshot: Snapshot? = nil) async throws -> Int {
        let options = snapshot.map { ["--dir", $0.folder.path] } ?? []
        let server = try await RedisServer(options: options)
        present.withLockedValue { $0 = TestRedis(server) }
        return server.port
    }
}

extension TestRedis.Kind {
    /// How long a server may be silent before another one is promoted. Short, so that failovers are fast.
    fileprivate var patience: Duration {
        switch self {
        case .server, .sentinel: .seconds(1)
        case .cluster: .seconds(2)
        }
    }
}
