// The one Redis of a deployment, which a fault may kill, start again with other data, or put into a state.

internal import Foundation
internal import NIOConcurrencyHelpers
internal import TestSupport

/// A Redis that can be replaced by another while the workers take it for the same.
public final class RedisControl: Sendable {
    private let present: NIOLockedValueBox<RedisServer>
    private let folder: URL

    /// - Parameter server: one that runs already; otherwise a new one.
    init(_ server: RedisServer? = nil) async throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "rollcall-faults-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let server = if let server { server } else { try await RedisServer() }
        present = NIOLockedValueBox(server)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var port: Int { server.port }
    private var server: RedisServer { present.withLockedValue { $0 } }

    /// Runs `redis-cli` with these arguments.
    ///
    /// - Returns: what it printed.
    @discardableResult
    func cli(_ arguments: String...) async throws -> String {
        try await server.cli(arguments)
    }

    /// Its clock, in milliseconds since 1970.
    func time() async throws -> Int {
        let parts = try await cli("TIME").split(whereSeparator: \.isNewline).compactMap { Int($0) }
        return parts.count == 2 ? parts[0] * 1000 + parts[1] / 1000 : 0
    }

    /// How often each command was called so far, be it by clients or by scripts.
    func calls() async throws -> [String: Int] {
        let lines = try await cli("INFO", "commandstats").split(whereSeparator: \.isNewline)
        let calls = lines.compactMap { line in
            line.firstMatch(of: #/cmdstat_([a-z|-]+):calls=(\d+)/#).map { (String($0.output.1), Int($0.output.2) ?? 0) }
        }
        return Dictionary(uniqueKeysWithValues: calls)
    }

    /// The commands that write, and the one that tells others.
    func writes() async throws -> Set<String> {
        Set(try await cli("ACL", "CAT", "write").split(whereSeparator: \.isNewline).map(String.init) + ["publish"])
    }

    /// Lets a shell write lines to one `redis-cli`, with pauses: a server that lets nobody else in still hears them.
    func script(_ shell: String) async throws {
        let child = try ChildProcess(["sh", "-c", "(\(shell)) | redis-cli -p \(port)"])
        try await child.exitCode(within: .seconds(60))
    }

    /// Ends the server as a crash would.
    func kill() async throws {
        server.process.kill()
        try await server.process.exitCode()
    }

    /// What the server holds now, to be started with later.
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

    /// Starts another server in the place of the one that was killed, empty or with a snapshot.
    ///
    /// - Returns: its port.
    func start(with snapshot: Snapshot? = nil) async throws -> Int {
        let options = snapshot.map { ["--dir", $0.folder.path] } ?? []
        let server = try await RedisServer(options: options)
        present.withLockedValue { $0 = server }
        return server.port
    }
}
