// What is thought of a Redis that answers: each check takes what was read and says one thing.

import RollcallModel
import RollcallRedis

/// Judges a Redis.
struct RedisChecks {
    let readings: RedisReadings
    /// What a worker of this configuration would need of it.
    let needs: Needs

    /// What the judgement depends on besides.
    struct Needs: Sendable {
        /// How many connections one worker on this host makes.
        var connections: Int
        /// Until when a token counts beyond its end; `nil` where there are no tokens.
        var leeway: Duration?
        /// Which database the workers use.
        var database = 0
        /// Whether workers know that it is a cluster.
        var isCluster = false
    }

    var findings: [Finding] {
        [
            version, role, memory, eviction, outputBuffers, connections, persistence, rights, keys, foreignKeys,
            databases, latency, slowCommands, clock,
        ]
    }
}

// MARK: What it is

extension RedisChecks {
    private var version: Finding {
        readings.info.judged(.version) { info in
            if let valkey = info["valkey_version"] { return Finding(.version, .ok, "Valkey \(valkey)") }
            guard let text = info["redis_version"] else { return Finding(.version, .skipped, "Redis does not say") }
            let numbers = text.split(separator: ".").map { Int($0) ?? 0 }
            guard !numbers.lexicographicallyPrecedes([6, 2]) else {
                return Finding(
                    .version, .failure, "Redis \(text), which lacks commands that workers need",
                    advice: "take Redis 6.2 or later, or Valkey")
            }
            return Finding(.version, .ok, "Redis \(text)")
        }
    }

    private var role: Finding {
        if readings.refusesWrites { return replica }
        if let refusal = readings.shortfall.value?.refusal {
            return Finding(
                .role, .failure, "a primary that takes no writes: \(refusal)",
                advice: "see what it waits for: its replicas (min-replicas-to-write), its disk, or memory")
        }
        return readings.info.judged(.role) { info in
            if info["cluster_enabled"] == "1", !needs.isCluster {
                return Finding(
                    .role, .failure, "a node of a Redis Cluster, which has a part of the keys only",
                    advice: "set redis.url to redis+cluster://HOST:PORT, which finds the others")
            }
            if info["redis_mode"] == "sentinel" {
                return Finding(
                    .role, .failure, "a Sentinel, which keeps no keys",
                    advice:
                        "set redis.url to redis+sentinel://HOST:PORT/NAME, with the name by which it knows the primary")
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
            // Who may ask for settings is no user with least rights.
            guard case .success = readings.settings else {
                return Finding(.rights, .ok, "the user \(readings.user) may do all that a worker does")
            }
            return Finding(
                .rights, .ok,
                "the user \(readings.user) may do all that a worker does, and more; "
                    + "\(file) has a user who may do no more")
        }
    }

    private var file: String { WorkerRights.file(isCluster: needs.isCluster) }

    private func unknown(_ commands: [String]) -> Finding {
        Finding(
            .rights, .failure, "this Redis does not know \(commands.joined(separator: ", ")), which workers need",
            advice: "take away rename-command, and keep other users from these commands by ACLs instead")
    }

    /// Who may look and may run no script is nobody's idea of a worker, but has been made for a doctor.
    private func lacking(_ rights: [RedisRight]) -> Finding {
        if rights.contains(.command("evalsha")), readings.info.value != nil {
            return Finding(
                .rights, .skipped,
                "the user \(readings.user) may look and not work; what the workers' user may do is seen as that one")
        }
        let rules = rights.map(\.description).joined(separator: " ")
        return Finding(
            .rights, .failure, "the user \(readings.user) may not do all that a worker does: it lacks \(rules)",
            advice: "whoever looks after it can say ACL SETUSER \(readings.user) \(rules); "
                + "\(file) has all that a worker needs")
    }
}
