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
        return readings.info.judged(.role) { info in
            if info["cluster_enabled"] == "1" {
                return Finding(
                    .role, .failure, "a node of a Redis Cluster, which has a part of the keys only",
                    advice: "take a Redis that stands alone (cluster-enabled no)")
            }
            if info["redis_mode"] == "sentinel" {
                return Finding(
                    .role, .failure, "a Sentinel, which keeps no keys",
                    advice: "set redis.url to the primary that it watches")
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
        readings.missingRights.judged(.rights) { missing in
            guard missing.isEmpty else {
                let rules = missing.map(\.description).joined(separator: " ")
                return Finding(
                    .rights, .failure, "the user \(readings.user) may not do all that a worker does: it lacks \(rules)",
                    advice: "whoever looks after it can say ACL SETUSER \(readings.user) \(rules); "
                        + "Config/redis.acl has all that a worker needs")
            }
            // Who may ask for settings is no user with least rights.
            guard case .success = readings.settings else {
                return Finding(.rights, .ok, "the user \(readings.user) may do all that a worker does")
            }
            return Finding(
                .rights, .ok,
                "the user \(readings.user) may do all that a worker does, and more; "
                    + "Config/redis.acl has a user who may do no more")
        }
    }
}
