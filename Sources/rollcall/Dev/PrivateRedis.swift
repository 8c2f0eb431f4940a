// The Redis that `rollcall dev` has for itself: on loopback, keeping nothing, gone without a trace.

import Foundation

/// A running `redis-server` of one's own.
struct PrivateRedis: Sendable, Encodable {
    let port: Int
    let pid: Int32

    /// Tried first, so that what one typed yesterday works today.
    static let preferredPort = 6399

    /// Starts a server, does `work` with it, and takes it down with its folder.
    static func during<Result: Sendable>(
        _ work: @escaping @Sendable (PrivateRedis) async throws -> Result
    ) async throws -> Result {
        let program = try Program.find("redis-server")
        let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-dev-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let (server, port) = try await start(program, in: folder)
        let watcher = try watch(server, in: folder)
        do {
            let result = try await server.during { try await work(PrivateRedis(port: port, pid: server.pid)) }
            await dismiss(watcher)
            return result
        } catch {
            await dismiss(watcher)
            throw error
        }
    }

    private static func start(_ program: URL, in folder: URL) async throws -> (Child, port: Int) {
        let ports = [preferredPort] + (0..<20).map { _ in Int.random(in: 20_000..<30_000) }
        var output: [String] = []
        for port in ports {
            let server = try Child(
                "redis-server", program: program,
                arguments: [
                    "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
                    folder.path,
                ])
            output = []
            for await line in server.lines {
                if line.contains("Ready to accept connections") { return (server, port) }
                output.append(line)
            }
            await server.stop()
            try Task.checkCancellation()
            guard output.contains(where: { $0.contains("Address already in use") }) else { break }
        }
        throw CannotStart("redis-server did not start:\n" + output.suffix(5).joined(separator: "\n"))
    }

    /// Redis knows nothing of our lifeline, so a shell holds it: if we vanish without a word, it ends the server. It
    /// removes the folder in any case.
    private static func watch(_ server: Child, in folder: URL) throws -> Child {
        let script = "trap '' INT TERM HUP; read -r word || kill -9 \"$1\"; rm -rf -- \"$2\""
        return try Child(
            "watcher", program: URL(fileURLWithPath: "/bin/sh"),
            arguments: ["-c", script, "rollcall-dev-watcher", "\(server.pid)", folder.path])
    }

    private static func dismiss(_ watcher: Child) async {
        watcher.say("done")
        _ = await watcher.ending
    }
}
