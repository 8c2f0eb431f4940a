// A private `redis-server` for a test: without persistence, on a free port, stopped when the value is released.

public import Foundation
import Synchronization

/// A private `redis-server`, on loopback.
public final class RedisServer: Sendable {
    public let port: Int
    /// The folder with the server's Unix socket, `redis.sock`.
    public let folder: URL
    private let options: [String]
    private let clock: SettableClock?
    private let current: Mutex<ChildProcess>
    public var process: ChildProcess { current.withLock { $0 } }

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - port: the port to listen on; `nil` picks a free one.
    ///   - options: further configuration, such as `["--requirepass", "secret"]`.
    ///   - clock: a wall clock for the server that can be set while it runs.
    ///   - hasUsers: whether the server has the user of `Config/redis.acl`, in addition to a default user who may run
    ///     every command.
    ///   - users: another ACL file to use instead.
    public init(
        port: Int? = nil, options: [String] = [], clock: SettableClock? = nil, hasUsers: Bool = true,
        users: String = "redis.acl"
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "rollcall-redis-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        self.clock = clock
        let options = hasUsers ? options + ["--aclfile", try Self.users(of: users, in: folder).path] : options
        self.options = options
        // Another process may take a free port, even as the local port of a connection, before Redis listens on it.
        for _ in 0..<5 where port == nil {
            let free = try freePort()
            if let process = try? await Self.start(port: free, folder: folder, options: options, clock) {
                self.port = free
                current = Mutex(process)
                return
            }
        }
        self.port = try port ?? freePort()
        current = Mutex(try await Self.start(port: self.port, folder: folder, options: options, clock))
    }

    /// Starts it again with its data on disk, after a `SHUTDOWN`.
    public func restart() async throws {
        try await process.exitCode()
        let started = try await Self.start(port: port, folder: folder, options: options, clock)
        current.withLock { $0 = started }
    }

    private static func start(
        port: Int, folder: URL, options: [String], _ clock: SettableClock?
    ) async throws -> ChildProcess {
        let process = try ChildProcess(
            [
                "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                "--dir", folder.path, "--unixsocket", folder.appending(path: "redis.sock").path,
                "--enable-debug-command", "yes",
            ] + options, environment: clock?.environment ?? [:])
        try await eventually("redis-server on port \(port) is ready") {
            guard process.isRunning else { throw Timeout(description: "redis-server ended: \(process.output)") }
            return process.output.contains("Ready to accept connections")
        }
        return process
    }

    deinit {
        process.kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The URL for a user with only the permissions of a worker.
    public var url: String { Self.workerURL(port: port) }
    /// The URL for a user who may run every command.
    public var openURL: String { "redis://127.0.0.1:\(port)" }

    /// The same as ``url`` for a server, or something in front of one, on this port.
    public static func workerURL(port: Int) -> String { "redis://rollcall:a-password@127.0.0.1:\(port)" }

    /// Writes the ACL file that operators are given, with a password added.
    private static func users(of name: String, in folder: URL) throws -> URL {
        let given = URL(filePath: #filePath).appending(path: "../../../Config/\(name)").standardized
        let line = try String(contentsOf: given, encoding: .utf8).split(separator: "\n").joined()
        let file = folder.appending(path: "users.acl")
        try Data("user default on nopass ~* &* +@all\n\(line) >a-password\n".utf8).write(to: file)
        return file
    }

    public var socketPath: String { folder.appending(path: "redis.sock").path }

    /// Runs `redis-cli` with these arguments against the server.
    ///
    /// - Returns: what it printed, without the last newline.
    @discardableResult
    public func cli(_ arguments: String...) async throws -> String {
        try await cli(arguments)
    }

    /// Runs `redis-cli` with these arguments, as above.
    @discardableResult
    public func cli(_ arguments: [String]) async throws -> String {
        let child = try ChildProcess(["redis-cli", "-p", "\(port)"] + arguments)
        try await child.exitCode()
        try await eventually("redis-cli's output is read") { child.outputEnded }
        return child.output.hasSuffix("\n") ? String(child.output.dropLast()) : child.output
    }
}

/// Returns a TCP port that no process listens on at this moment.
public func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard bound else { throw POSIXError(.EADDRNOTAVAIL) }
    return Int(UInt16(bigEndian: address.sin_port))
}
