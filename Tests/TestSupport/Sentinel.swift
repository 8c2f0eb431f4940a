// A private Redis Sentinel process for a test, with its own configuration file, which it rewrites as sentinels do.

internal import Foundation

/// A running sentinel, on loopback.
public final class Sentinel: Sendable {
    public let port: Int
    public let process: ChildProcess
    /// What connections to this sentinel pass through.
    let gate: (any Gate)?
    private let folder: URL
    /// The options that `redis-cli` needs to reach it.
    private let way: [String]

    /// Configuration besides the primary to monitor.
    public struct Equipment: Sendable {
        /// Further lines of the configuration file; `PORT` is replaced with its port.
        public var lines: [String]
        /// The options that `redis-cli` needs to reach it, besides the port.
        public var way: [String]

        public init(lines: [String] = [], way: [String] = []) {
            (self.lines, self.way) = (lines, way)
        }
    }

    /// Starts a sentinel and waits until it monitors the primary.
    ///
    /// - Parameters:
    ///   - downAfter: `down-after-milliseconds`, after which a silent primary counts as down.
    ///   - gate: something in front of the sentinel, which forwards to it.
    public init(
        watching primary: Int, as name: String, quorum: Int, downAfter: Duration = .seconds(1),
        gate: (any Gate)? = nil, _ equipment: Equipment = Equipment()
    ) async throws {
        let folder = try Self.newFolder()
        (self.folder, way, self.gate) = (folder, equipment.way, gate)
        let lines =
            (equipment.lines.isEmpty ? ["port PORT"] : equipment.lines) + [
                "bind 127.0.0.1", "dir \(folder.path)", "sentinel monitor \(name) 127.0.0.1 \(primary) \(quorum)",
                "sentinel down-after-milliseconds \(name) \(downAfter / .milliseconds(1))",
                "sentinel failover-timeout \(name) 6000", "sentinel parallel-syncs \(name) 2",
            ] + (gate.map { ["sentinel announce-ip 127.0.0.1", "sentinel announce-port \($0.port)"] } ?? [])
        func start() async throws -> (Int, ChildProcess) {
            let free = try freePort()
            let text = lines.map { $0.replacing("PORT", with: "\(free)") }.joined(separator: "\n") + "\n"
            return (free, try await Self.start(text, in: folder))
        }
        // Another process may take a free port before the sentinel listens on it.
        var started: (Int, ChildProcess)?
        for _ in 0..<3 where started == nil { started = try? await start() }
        if let started { (port, process) = started } else { (port, process) = try await start() }
        try await gate?.aim(at: port)
    }

    /// Restarts a sentinel that has exited, as an operator would: on the same port, with the state that it had saved.
    ///
    /// Without that state, it would have a new id. Other sentinels would count the old and the new id as two sentinels
    /// when they receive an announcement of the old one, which a replica may publish up to a second later.
    public init(again old: Sentinel) async throws {
        folder = try Self.newFolder()
        (port, way, gate) = (old.port, old.way, old.gate)
        let learned = try String(contentsOf: Self.file(in: old.folder), encoding: .utf8)
        process = try await Self.start(learned.replacing(old.folder.path, with: folder.path), in: folder)
    }

    private static func newFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "rollcall-sentinel-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    private static func file(in folder: URL) -> URL { folder.appending(path: "sentinel.conf") }

    private static func start(_ text: String, in folder: URL) async throws -> ChildProcess {
        try Data(text.utf8).write(to: file(in: folder))
        let process = try ChildProcess(["redis-server", file(in: folder).path, "--sentinel"])
        try await eventually("a sentinel watches") {
            guard process.isRunning else { throw Timeout(description: "a sentinel ended: \(process.output)") }
            return process.output.contains("+monitor master")
        }
        return process
    }

    deinit {
        process.kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Runs `redis-cli` with these arguments against the sentinel.
    ///
    /// - Returns: what it printed, without the last newline.
    @discardableResult
    public func cli(_ arguments: String...) async throws -> String {
        let child = try ChildProcess(["redis-cli"] + way + ["-p", "\(port)"] + arguments)
        try await child.exitCode()
        try await eventually("redis-cli's output is read") { child.outputEnded }
        return child.output.hasSuffix("\n") ? String(child.output.dropLast()) : child.output
    }
}
