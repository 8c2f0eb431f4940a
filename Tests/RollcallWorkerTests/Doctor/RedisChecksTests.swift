// The doctor's findings about a Redis, from what it reports.

import RollcallModel
import RollcallRedis
import Testing

@testable import RollcallDoctor

@Suite("The doctor's Redis checks")
struct RedisChecksTests {
    @Test("a healthy Redis: everything is ok, and nothing is to be done")
    func healthy() {
        let readings = MadeUp.readings()
        let findings =
            RedisChecks(readings: readings, needs: .init(connections: 5)).findings
            + WorkerChecks(readings: readings).findings
        for finding in findings {
            #expect(finding.verdict == .ok && finding.advice == nil, "\(finding)")
        }
        #expect(Set(findings.map(\.check)).count == findings.count)
    }

    @Test(
        "versions",
        arguments: [
            ("6.0.16", Finding.Verdict.failure), ("6.2.0", .ok), ("7.4.1", .ok), ("10.0", .ok), ("5.9.9", .failure),
        ])
    func versions(version: String, verdict: Finding.Verdict) {
        #expect(MadeUp.readings(["redis_version": version]).finding(.version).verdict == verdict)
    }

    @Test("Valkey reports itself as Redis 7.2, and is named")
    func valkey() {
        let readings = MadeUp.readings(["redis_version": "7.2.4", "valkey_version": "8.1.0"])
        #expect(readings.finding(.version).found == "Valkey 8.1.0")
    }

    @Test("a replica, a node of a cluster and a Sentinel cannot be used by workers")
    func roles() {
        let replica = MadeUp.readings(["role": "slave", "master_host": "10.0.0.7", "master_port": "6380"])
        #expect(replica.finding(.role).verdict == .failure)
        #expect(replica.finding(.role).advice?.contains("redis://10.0.0.7:6380") == true)
        var unknown = replica
        unknown.info = .failure(.denied(.command("info")))
        #expect(unknown.finding(.role).verdict == .failure)
        #expect(MadeUp.readings(["cluster_enabled": "1"]).finding(.role).verdict == .failure)
        #expect(MadeUp.readings(["redis_mode": "sentinel"]).finding(.role).verdict == .failure)
    }

    @Test("an eviction policy is a failure with a memory limit, and otherwise a warning")
    func eviction() {
        let evicts = MadeUp.readings(["maxmemory_policy": "allkeys-lru", "evicted_keys": "12"]).finding(.eviction)
        #expect(evicts.verdict == .failure && evicts.found.contains("12 keys are gone"))
        #expect(evicts.advice?.contains("noeviction") == true)
        let idle = MadeUp.readings(["maxmemory_policy": "volatile-ttl", "maxmemory": "0"]).finding(.eviction)
        #expect(idle.verdict == .warning)
    }

    @Test("memory", arguments: [(1, Finding.Verdict.ok), (430, .warning), (512, .failure), (600, .failure)])
    func memory(mebibytes: Int, verdict: Finding.Verdict) {
        #expect(MadeUp.readings(["used_memory": "\(mebibytes << 20)"]).finding(.memory).verdict == verdict)
    }

    @Test(
        "output buffers for slow subscribers",
        arguments: [
            ("normal 0 0 0 slave 1 2 3 pubsub 33554432 8388608 60", Finding.Verdict.ok),
            ("pubsub 65536 32768 10", .warning), ("pubsub 0 0 0", .warning), ("pubsub 0 16777216 30", .ok),
            ("normal 0 0 0", .skipped),
        ])
    func outputBuffers(setting: String, verdict: Finding.Verdict) {
        var readings = MadeUp.readings()
        readings.settings = .success(["client-output-buffer-limit": setting])
        #expect(readings.finding(.outputBuffers).verdict == verdict)
    }

    @Test("connections: no room for a worker is a failure; for a worker that already has its connections, a warning")
    func connections() {
        var readings = MadeUp.readings(["connected_clients": "97", "maxclients": "100"])
        #expect(readings.finding(.connections).verdict == .warning)
        readings.workers = .success([])
        #expect(readings.finding(.connections).verdict == .failure)
        #expect(MadeUp.readings(["connected_clients": "89", "maxclients": "100"]).finding(.connections).verdict == .ok)
    }

    /// Regression: the doctor crashed.
    @Test("numbers of connections and replicas that cannot be are taken for none")
    func impossibleNumbers() {
        let readings = MadeUp.readings(["connected_clients": "\(Int.max)", "maxclients": "\(Int.min)"])
        #expect(readings.finding(.connections).verdict == .warning)
        let slave = ["slave0": "ip=10.0.0.2,port=6379,state=online"]
        for (number, count) in [("-1", 0), ("\(Int.max)", 1), ("1", 1)] {
            let info = MadeUp.info(slave.merging(["connected_slaves": number]) { $1 })
            #expect(info.replicas.count == count)
        }
    }

    @Test("missing persistence is ok, except for members")
    func persistence() {
        var readings = MadeUp.readings(["aof_enabled": "0"])
        #expect(readings.finding(.persistence).verdict == .ok)
        readings.keys = .success(MadeUp.sample([("presence:{u}", "hash")], total: 2))
        #expect(readings.finding(.persistence).verdict == .warning, "keys that were not checked may be members")
        readings.keys = .success(MadeUp.sample([("members:{c}", "hash")]))
        #expect(readings.finding(.persistence).verdict == .warning)
        readings.settings = .success(["save": "3600 1"])
        #expect(readings.finding(.persistence).verdict == .ok)
        readings.settings = .failure(.denied(.command("config|get")))
        #expect(readings.finding(.persistence).verdict == .skipped)
        readings.settings = .success([:])
        #expect(readings.finding(.persistence).verdict == .skipped, "a Redis without this setting reports nothing")
        #expect(MadeUp.readings(["rdb_last_bgsave_status": "err"]).finding(.persistence).verdict == .failure)
    }

    @Test("what may not be read is skipped, and the needed permission is named")
    func denied() {
        var readings = MadeUp.readings()
        readings.info = .failure(.denied(.command("info")))
        readings.settings = .failure(.denied(.command("config|get")))
        readings.keys = .failure(.denied(.command("scan")))
        for check in [Check.version, .role, .memory, .eviction, .persistence, .connections] {
            #expect(readings.finding(check).verdict == .skipped)
            #expect(readings.finding(check).found.contains("+info"), "\(check)")
        }
        #expect(readings.finding(.outputBuffers).found.contains("+config|get"))
        #expect(readings.finding(.foreignKeys).found.contains("+scan"))
    }

    @Test("missing permissions are named as ACL rules")
    func rights() {
        var readings = MadeUp.readings()
        readings.shortfall = .success(Shortfall(rights: [.keys("presence:{*}"), .command("zadd")]))
        let finding = readings.finding(.rights)
        #expect(finding.verdict == .failure)
        #expect(finding.advice?.contains("ACL SETUSER rollcall ~presence:{*} +zadd") == true)
    }

    /// Regression: the doctor's own user, created as on its page, was reported to lack nearly all permissions, and its
    /// Redis failed.
    @Test("a user with read permissions is not a worker's user, and one without them is")
    func looksOnly() {
        var readings = MadeUp.readings()
        readings.shortfall = .success(Shortfall(rights: ["multi", "discard", "evalsha"].map { .command($0) }))
        #expect(readings.finding(.rights).verdict == .skipped)
        readings.info = .failure(.denied(.command("info")))
        #expect(readings.finding(.rights).verdict == .failure)
    }

    @Test("a Redis that does not know a command, or refuses writes, fails even with all permissions")
    func otherThanRights() {
        var readings = MadeUp.readings()
        readings.shortfall = .success(Shortfall(commands: ["EVALSHA"]))
        #expect(readings.finding(.rights).verdict == .failure)
        #expect(readings.finding(.rights).found.contains("EVALSHA"))
        readings.shortfall = .success(Shortfall(refusal: "NOREPLICAS Not enough good replicas to write."))
        #expect(readings.finding(.rights).verdict == .ok && readings.finding(.role).verdict == .failure)
        #expect(readings.finding(.role).found.contains("NOREPLICAS"))
    }

    @Test("if types may not be read, the owner of the keys is unknown")
    func typesDenied() {
        var readings = MadeUp.readings()
        var sample = KeySample(total: 1)
        sample.saw(["presence:{alice}"], KeyNames())
        sample.learnt([.failure(.denied(.command("type")))])
        readings.keys = .success(sample)
        #expect(readings.finding(.foreignKeys).verdict == .skipped)
        #expect(readings.finding(.foreignKeys).found.contains("+type"))
    }

    @Test("without a limit, the machine's memory counts")
    func unlimited() {
        let (used, machine) = (7 << 30, 8 << 30)
        let facts = ["maxmemory": "0", "used_memory": "\(used)", "total_system_memory": "\(machine)"]
        let near = MadeUp.readings(facts).finding(.memory)
        #expect(near.verdict == .warning && near.found.contains("8 GiB that its machine has"))
        #expect(MadeUp.readings(facts.merging(["used_memory": "1"]) { $1 }).finding(.memory).verdict == .ok)
        #expect(MadeUp.readings(["maxmemory": "0"]).finding(.memory).verdict == .ok)
    }

    @Test("keys are counted by kind, and foreign ones with Rollcall's names are found")
    func keys() {
        var readings = MadeUp.readings()
        readings.keys = .success(
            MadeUp.sample(
                [
                    ("presence:{alice}", "hash"), ("presence:{bob}", "string"), ("typing:{c}", "zset"),
                    ("typing:{c}:alice", "string"), ("cart:7", "list"), ("members:{gone}", "none"),
                ], total: 5_000))
        #expect(
            readings.finding(.keys).found
                == "5000 keys: 1 typists, 1 typing, 2 presence, 1 members, 1 of others; 6 of 5000 were checked")
        let foreign = readings.finding(.foreignKeys)
        #expect(foreign.verdict == .failure && foreign.found.contains("presence:{bob}, a string"))
    }

    @Test("another database with the same names is found by its messages")
    func neighbours() {
        var readings = MadeUp.readings(["db0": "keys=3", "db2": "keys=9"])
        #expect(readings.finding(.databases).verdict == .ok)
        #expect(readings.finding(.databases).found.contains("9 keys in 2"))
        readings.neighbours = .success([2])
        #expect(readings.finding(.databases).verdict == .failure)
    }
}
