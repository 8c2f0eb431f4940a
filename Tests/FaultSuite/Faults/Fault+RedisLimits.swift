// A Redis that answers, and refuses.

internal import Foundation
internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    /// Long enough for every connection to be given up, and for leases of either kind to pass.
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

    /// What takes from Redis is still permitted, and so is all that presence needs.
    static let noMemory = Fault(.redis, "maxmemory reached with noeviction, for 5 s") { stage in
        try await stage.outage(Outage(isWritable: true)) {
            try await stage.redis.everywhere("CONFIG", "SET", "maxmemory", "1")
        } end: { _ in
            try await Task.sleep(for: span)
            try await stage.redis.everywhere("CONFIG", "SET", "maxmemory", "0")
        }
    }

    /// Nobody is let in any more, and who was in is thrown out. Only who holds a connection can end that.
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

    /// One burst of messages is more than Redis keeps for a subscriber, which it throws out.
    static let slowSubscriber = Fault(.redis, "client-output-buffer-limit hit by subscribers") { stage in
        let burst = "for i = 1, 400 do redis.call(ARGV[1], KEYS[1], string.rep('x', 10000)) end"
        try await stage.outage {
            try await stage.redis.everywhere("CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 0 0")
            try await stage.redis.cli("EVAL", burst, "1", "typing:{\(stage.room)}", stage.redis.whole.publishing)
        } end: { _ in
        }
    }
}
