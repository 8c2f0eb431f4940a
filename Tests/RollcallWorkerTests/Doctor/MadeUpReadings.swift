// A simulated Redis: healthy, until the test changes something.

import RollcallModel
import RollcallRedis

@testable import RollcallDoctor
@testable import RollcallShards
@testable import RollcallWorker

enum MadeUp {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)

    static let healthyInfo = """
        # Server
        redis_version:7.0.15
        # Clients
        connected_clients:7
        maxclients:10000
        # Memory
        used_memory:1048576
        maxmemory:536870912
        maxmemory_policy:noeviction
        # Persistence
        rdb_last_bgsave_status:ok
        aof_enabled:1
        aof_last_write_status:ok
        # Replication
        role:master
        connected_slaves:0
        # Cluster
        cluster_enabled:0
        # Keyspace
        db0:keys=3,expires=1,avg_ttl=0
        """

    /// The healthy one with these fields changed.
    static func info(_ facts: [String: String] = [:]) -> RedisInfo {
        let changed = facts.map { "\($0.key):\($0.value)" }.joined(separator: "\r\n")
        return RedisInfo(changed + "\r\n" + healthyInfo)
    }

    static func readings(_ facts: [String: String] = [:]) -> RedisReadings {
        RedisReadings(
            user: "rollcall", info: .success(info(facts)), refusesWrites: facts["role"] == "slave",
            settings: .success(["client-output-buffer-limit": "normal 0 0 0 pubsub 33554432 8388608 60", "save": ""]),
            shortfall: .success(Shortfall()), roundTrips: .success(Array(repeating: .microseconds(80), count: 100)),
            slowCommands: .success([]), clock: .success(.init(ahead: .milliseconds(1), uncertainty: .milliseconds(2))),
            replicaClocks: [:], time: now, workers: .success([worker("w1.a", ends: .seconds(4))]),
            keys: .success(sample([])), neighbours: .success([]))
    }

    static func worker(_ name: String, ends: Duration, _ facts: [String: String] = [:]) -> RedisReadings.Worker {
        let usual = ["format": "1", "version": RollcallVersion.current]
        return RedisReadings.Worker(
            incarnation: name, leaseEnd: now.advanced(by: ends), facts: usual.merging(facts) { $1 })
    }

    /// Keys, each with its type.
    static func sample(_ keys: [(String, String)], total: Int? = nil) -> KeySample {
        var sample = KeySample(total: total ?? keys.count)
        sample.saw(keys.map { $0.0 }, KeyNames())
        let types = Dictionary(keys) { $1 }
        sample.learnt(sample.examples.map { .success(types[$0.key] ?? "none") })
        return sample
    }
}

extension RedisReadings {
    /// The finding of one check.
    func finding(_ check: Check, leeway: Duration? = nil) -> Finding {
        let needs = RedisChecks.Needs(connections: 5, leeway: leeway)
        let all = RedisChecks(readings: self, needs: needs).findings + WorkerChecks(readings: self).findings
        return all.first { $0.check == check } ?? Finding(check, .skipped, "there is no such finding")
    }
}
