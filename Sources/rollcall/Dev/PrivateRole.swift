// The roles of `rollcall dev`'s Redis servers.

import Foundation

/// How a private `redis-server` is started.
struct PrivateRole: Sendable {
    /// The port that is tried first, so that commands in a shell's history keep working.
    let usualPort: Int
    /// What the server prints when it is ready.
    let readyWords: String
    /// The command line for a port and the server's own folder.
    let arguments: @Sendable (_ port: Int, _ folder: URL) throws -> [String]

    /// A primary, with or without replicas.
    static let primary = server(usualPort: 6399)

    /// A replica of the primary on this port. It is ready once it is in sync.
    ///
    /// - Parameter number: distinguishes the server from others; 0 for the first primary.
    static func replica(_ number: Int, of primary: Int) -> PrivateRole {
        server(usualPort: 6399 + number, readyWords: "REPLICA sync: Finished with success") { _ in
            ["--replicaof", "127.0.0.1 \(primary)"]
        }
    }

    /// A node of a cluster, primary or replica. Its folder contains what it knows about the others, so that it is the
    /// same node after a restart.
    ///
    /// - Parameter number: distinguishes the node from others, from 0.
    static func node(_ number: Int) -> PrivateRole {
        server(usualPort: 6399 + number) { port in
            [
                // By default, the cluster bus uses the port number plus 10,000. That is in the range of ephemeral
                // ports, so any connection may have taken it.
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

    /// A sentinel that monitors the primary on this port, and starts a failover after one second of silence. It stores
    /// its state in its configuration, and continues with that after a restart.
    ///
    /// - Parameter number: distinguishes the sentinel from others, from 0.
    static func sentinel(_ number: Int, watching primary: Int, as name: String, quorum: Int) -> PrivateRole {
        PrivateRole(usualPort: 26_399 + number, readyWords: "+monitor master") { port, folder in
            let file = folder.appending(path: "sentinel.conf")
            // Sentinels may all vote for themselves. The next election begins after twice the failover timeout.
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
