// A private sentinel for a test: real, with a configuration of its own, which it writes to as sentinels do.

internal import Foundation

/// A running sentinel, on loopback.
public final class Sentinel: Sendable {
    public let port: Int
    public let process: ChildProcess
    /// What stands before it.
    let gate: (any Gate)?
    private let folder: URL
    /// What `redis-cli` needs to reach it.
    private let way: [String]

    /// What there is to be told besides where the primary is.
    public struct Equipment: Sendable {
        /// Further lines of its configuration; `PORT` stands for its port.
        public var lines: [String]
        /// What `redis-cli` needs to reach it, besides the port.
        public var way: [String]

        public init(lines: [String] = [], way: [String] = []) {
            (self.lines, self.way) = (lines, way)
        }
    }

    /// Starts one and waits until it watches.
    ///
    /// - Parameters:
    ///   - downAfter: how long the primary may be silent.
    ///   - gate: what stands before it, and is led to it.
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
        // A free port may be taken by somebody else before the sentinel listens there.
        var started: (Int, ChildProcess)?
        for _ in 0..<3 where started == nil { started = try? await start() }
        if let started { (port, process) = started } else { (port, process) = try await start() }
        try await gate?.aim(at: port)
    }

    /// Starts one anew that has ended, as an operator would: where it was, and with what it had learned.
    ///
    /// One that knew nothing would be another to those who hear what the old one had said, which a replica may
    /// publish up to a second later.
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

    /// Asks it with `redis-cli`.
    ///
    /// - Returns: what it answered, without the last newline.
    @discardableResult
    public func cli(_ arguments: String...) async throws -> String {
        let child = try ChildProcess(["redis-cli"] + way + ["-p", "\(port)"] + arguments)
        try await child.exitCode()
        try await eventually("redis-cli's output is read") { child.outputEnded }
        return child.output.hasSuffix("\n") ? String(child.output.dropLast()) : child.output
    }
}
