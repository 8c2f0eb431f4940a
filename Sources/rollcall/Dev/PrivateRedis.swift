// The private Redis of `rollcall dev`: on the loopback interface, without persistence, and removed completely at the
// end.

import Foundation

/// A running private `redis-server`.
struct PrivateRedis: Sendable, Encodable {
    let port: Int
    let pid: Int32
    /// The `redis.url` of the workers.
    let url: String

    private init(port: Int, pid: Int32) {
        (self.port, self.pid, url) = (port, pid, "redis://127.0.0.1:\(port)")
    }

    /// Starts a server, does `work` with it, and removes it and its folder.
    ///
    /// - Parameter isAtHome: whether the usual port is tried first, so that commands in a shell's history keep working.
    static func during<Result: Sendable>(
        atHome isAtHome: Bool,
        _ work: @escaping @Sendable (PrivateRedis, Part<PrivateRedis>) async throws -> Result
    ) async throws -> Result {
        let program = try Program.find("redis-server")
        let folder = FileManager.default.temporaryDirectory.appending(path: "rollcall-dev-\(UUID().uuidString)")
        let watcher = try await watch(folder)
        do {
            let result = try await Part { last in
                try await start(program, on: ports(like: last, atHome: isAtHome), in: folder, watchedBy: watcher)
            }.during(work)
            await dismiss(watcher)
            return result
        } catch {
            await dismiss(watcher)
            throw error
        }
    }

    /// Returns the ports to try. Workers expect Redis where it was before.
    private static func ports(like last: PrivateRedis?, atHome isAtHome: Bool) -> [Int] {
        if let last { return [last.port] }
        return (isAtHome ? [6399] : []) + (0..<20).map { _ in Int.random(in: 20_000..<30_000) }
    }

    private static func start(
        _ program: URL, on ports: [Int], in folder: URL, watchedBy watcher: Child
    ) async throws -> Part<PrivateRedis>.Life {
        var output: [String] = []
        for port in ports {
            let server = try Child(
                "redis-server", program: program,
                arguments: [
                    "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir",
                    folder.path,
                ])
            watcher.say("\(server.pid)")
            output = []
            for await line in server.lines {
                if line.contains("Ready to accept connections") {
                    return Part.Life(child: server, running: PrivateRedis(port: port, pid: server.pid))
                }
                output.append(line)
            }
            await server.stop()
            try Task.checkCancellation()
            guard output.contains(where: { $0.contains("Address already in use") }) else { break }
        }
        throw CannotStart("redis-server did not start:\n" + output.suffix(5).joined(separator: "\n"))
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
            guard line == "made" else { throw CannotStart(line) }
            return watcher
        }
        throw CancellationError()
    }

    private static func dismiss(_ watcher: Child) async {
        watcher.say("none")
        watcher.letGo()
        _ = await watcher.ending
    }
}
