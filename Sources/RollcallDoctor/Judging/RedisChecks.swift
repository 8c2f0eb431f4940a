// Judges a Redis that answers. Each check takes the readings and returns one finding.

import RollcallModel
import RollcallRedis

/// Judges a Redis.
struct RedisChecks {
    let readings: RedisReadings
    /// What a worker with this configuration needs.
    let needs: Needs

    /// The needs that depend on the configuration.
    struct Needs: Sendable {
        /// The connections that one worker on this host opens.
        var connections: Int
        /// How long a token stays valid after its expiry; `nil` if tokens are not checked.
        var leeway: Duration?
        /// The database that the workers use.
        var database = 0
        /// Whether the workers are configured for a cluster.
        var isCluster = false
    }

    var findings: [Finding] {
        [
            version, role, memory, eviction, outputBuffers, connections, persistence, rights, keys, foreignKeys,
            databases, latency, slowCommands, clock,
        ]
    }
}

// MARK: Server and role

extension RedisChecks {
    private var version: Finding {
        readings.info.judged(.version) { info in
            if let valkey = info["valkey_version"] { return Finding(.version, .ok, "Valkey \(valkey)") }
            guard let text = info["redis_version"] else { return Finding(.version, .skipped, "not reported by Redis") }
            let numbers = text.split(separator: ".").map { Int($0) ?? 0 }
            guard !numbers.lexicographicallyPrecedes([6, 2]) else {
                return Finding(
                    .version, .failure, "Redis \(text), which lacks commands that workers need",
                    advice: "use Redis 6.2 or later, or Valkey")
            }
            return Finding(.version, .ok, "Redis \(text)")
        }
    }

    private var role: Finding {
        if readings.refusesWrites { return replica }
        if let refusal = readings.shortfall.value?.refusal {
            return Finding(
                .role, .failure, "a primary that refuses writes: \(refusal)",
                advice: "find out what it lacks: replicas (min-replicas-to-write), disk space or memory")
        }
        return readings.info.judged(.role) { info in
            if info["cluster_enabled"] == "1", !needs.isCluster {
                return Finding(
                    .role, .failure, "a node of a Redis Cluster, which has only some of the keys",
                    advice: "set redis.url to redis+cluster://HOST:PORT, which finds the others")
            }
            if info["redis_mode"] == "sentinel" {
                return Finding(
                    .role, .failure, "a Sentinel, which keeps no keys",
                    advice:
                        "set redis.url to redis+sentinel://HOST:PORT/NAME, with the primary's name in the sentinel")
            }
            return Finding(.role, .ok, primary(info))
        }
    }

    private var replica: Finding {
        guard let info = readings.info.value, let host = info["master_host"], let port = info["master_port"] else {
            return Finding(.role, .failure, "a replica, which refuses writes", advice: "set redis.url to its primary")
        }
        return Finding(
            .role, .failure, "a replica of \(host):\(port), which refuses writes",
            advice: "set redis.url to the primary, redis://\(host):\(port)")
    }

    private func primary(_ info: RedisInfo) -> String {
        switch info.number("connected_slaves") ?? 0 {
        case 0: "a primary without replicas"
        case 1: "a primary with one replica"
        case let count: "a primary with \(count) replicas"
        }
    }

    private var rights: Finding {
        readings.shortfall.judged(.rights) { shortfall in
            guard shortfall.commands.isEmpty else { return unknown(shortfall.commands) }
            guard shortfall.rights.isEmpty else { return lacking(shortfall.rights) }
            // A user who can read settings has more than the minimum rights.
            guard case .success = readings.settings else {
                return Finding(.rights, .ok, "the user \(readings.user) has all rights that a worker needs")
            }
            return Finding(
                .rights, .ok,
                "the user \(readings.user) has all rights that a worker needs, and more; "
                    + "\(file) has a user with only these rights")
        }
    }

    private var file: String { WorkerRights.file(isCluster: needs.isCluster) }

    private func unknown(_ commands: [String]) -> Finding {
        Finding(
            .rights, .failure, "this Redis does not know \(commands.joined(separator: ", ")), which workers need",
            advice: "remove rename-command, and use ACLs to keep other users from these commands")
    }

    /// A user who can read but not run scripts was probably created for the doctor, not for workers.
    private func lacking(_ rights: [RedisRight]) -> Finding {
        if rights.contains(.command("evalsha")), readings.info.value != nil {
            return Finding(
                .rights, .skipped,
                "the user \(readings.user) is read-only; run the doctor as the workers' user to check its rights")
        }
        let rules = rights.map(\.description).joined(separator: " ")
        return Finding(
            .rights, .failure, "the user \(readings.user) lacks rights that a worker needs: \(rules)",
            advice: "Redis's administrator can run ACL SETUSER \(readings.user) \(rules); "
                + "\(file) lists all that a worker needs")
    }
}
