// Redis answers, but refuses commands or connections.

internal import Foundation
internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    /// Long enough for every connection to be closed, and for the leases to expire under either settings.
    private static let span = Duration.seconds(5)

    static let replica = Fault(.redis, "made a replica (REPLICAOF), and a primary again after 5 s", on: [.server]) {
        stage in
        try await stage.outage {
            try await stage.redis.cli("REPLICAOF", "127.0.0.1", "1")
        } end: { _ in
            try await Task.sleep(for: span)
            try await stage.redis.cli("REPLICAOF", "NO", "ONE")
        }
    }

    /// Commands that free memory are still permitted, and so is everything that presence needs.
    static let noMemory = Fault(.redis, "maxmemory reached with noeviction, for 5 s") { stage in
        try await stage.outage(Outage(isFull: true)) {
            try await stage.redis.everywhere("CONFIG", "SET", "maxmemory", "1")
        } end: { _ in
            try await Task.sleep(for: span)
            try await stage.redis.everywhere("CONFIG", "SET", "maxmemory", "0")
        }
    }

    /// Redis accepts no new connections, and closes the existing ones. Only the holder of an open connection can end
    /// this.
    static let noClients = Fault(.redis, "maxclients reached, for 5 s", on: [.server]) { stage in
        let lines = [
            "echo CONFIG SET maxclients 1", "echo CLIENT KILL TYPE pubsub", "echo CLIENT KILL TYPE normal", "sleep 5",
            "echo CONFIG SET maxclients 10000",
        ]
        try await stage.outage {
            let script = Task { try await stage.redis.script(lines.joined(separator: "; ")) }
            try await eventually("all workers know") {
                stage.hosts.allSatisfy { $0.logs.joined().contains("Redis lost") }
            }
            return script
        } end: { script in
            try await script.value
        }
    }

    /// One burst of messages exceeds what Redis buffers for a subscriber, so Redis closes the subscriber's connection.
    static let slowSubscriber = Fault(.redis, "client-output-buffer-limit hit by subscribers") { stage in
        let burst = "for i = 1, 400 do redis.call(ARGV[1], KEYS[1], string.rep('x', 10000)) end"
        try await stage.outage {
            try await stage.redis.everywhere("CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 0 0")
            try await stage.redis.cli("EVAL", burst, "1", "typing:{\(stage.room)}", stage.redis.whole.publishing)
        } end: { _ in
        }
    }
}
