// What a server of `rollcall dev` is among the others.

import Foundation

/// How a private `redis-server` is started.
struct PrivateRole: Sendable {
    /// For people, so that what one typed yesterday works today.
    let usualPort: Int
    /// What the server prints when it is ready.
    let readyWords: String
    /// The command line for a port and a folder of the server's own.
    let arguments: @Sendable (_ port: Int, _ folder: URL) throws -> [String]

    /// Stands alone, until somebody follows it.
    static let primary = server(usualPort: 6399)

    /// Follows a primary on this port, and is ready when it has what that has.
    ///
    /// - Parameter number: told apart by it from other servers; 0 for what was the primary once.
    static func replica(_ number: Int, of primary: Int) -> PrivateRole {
        server(usualPort: 6399 + number, readyWords: "REPLICA sync: Finished with success") { _ in
            ["--replicaof", "127.0.0.1 \(primary)"]
        }
    }

    /// Has a part of a cluster's keys, or what one has who does. What it learns of the others stands in its folder, so that it
    /// is the same node when it is started again.
    ///
    /// - Parameter number: told apart by it from other nodes; from 0.
    static func node(_ number: Int) -> PrivateRole {
        server(usualPort: 6399 + number) { port in
            [
                // Redis would talk to the others on a port that is 10,000 higher, which may be anybody's by now: such are
                // given to whoever connects to something.
                "--cluster-enabled", "yes", "--cluster-port", "\(port + 100)", "--cluster-node-timeout", "2000",
                "--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0",
            ]
        }
    }

    private static func server(
        usualPort: Int, readyWords: String = "Ready to accept connections",
        _ more: @escaping @Sendable (_ port: Int) -> [String] = { _ in [] }
    ) -> PrivateRole {
        PrivateRole(usualPort: usualPort, readyWords: readyWords) { port, folder in
            [
                "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.path,
                "--repl-diskless-sync-delay", "0",
            ] + more(port)
        }
    }

    /// Watches a primary on this port, and has a replica take its place one second after it has fallen silent. A sentinel
    /// keeps what it learns in its configuration, and goes on from there when it is started again.
    ///
    /// - Parameter number: told apart by it from other sentinels; from 0.
    static func sentinel(_ number: Int, watching primary: Int, as name: String, quorum: Int) -> PrivateRole {
        PrivateRole(usualPort: 26_399 + number, readyWords: "+monitor master") { port, folder in
            let file = folder.appending(path: "sentinel.conf")
            // Each sentinel may vote for itself; the next election begins after twice the failover's time-out.
            let lines = [
                "bind 127.0.0.1", "dir \(folder.path)", "sentinel monitor \(name) 127.0.0.1 \(primary) \(quorum)",
                "sentinel down-after-milliseconds \(name) 1000", "sentinel failover-timeout \(name) 3000", "",
            ]
            if !FileManager.default.fileExists(atPath: file.path) {
                try Data(lines.joined(separator: "\n").utf8).write(to: file)
            }
            return [file.path, "--sentinel", "--port", "\(port)"]
        }
    }
}
