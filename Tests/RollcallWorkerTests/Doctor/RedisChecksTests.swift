// The doctor's findings about a Redis, from what it reports.

import RollcallProtocol
import RollcallRedis
import Testing

@testable import RollcallWorker

@Suite("The doctor's Redis checks")
struct RedisChecksTests {
    /// What a healthy Redis reports, with these facts changed.
    private func readings(_ facts: [String: String] = [:], role: [String] = ["master", "0", "0"]) -> RedisReadings {
        let healthy = [
            "redis_version": "7.0.15", "maxmemory": "536870912", "maxmemory_policy": "noeviction",
            "cluster_enabled": "0", "aof_enabled": "1",
        ]
        return RedisReadings(
            user: "rollcall", info: .success(healthy.merging(facts) { $1 }), role: .success(role),
            clientMemory: .success("0"), replay: .success([]), shortfall: .success(Shortfall()),
            roundTrips: .success(Array(repeating: .microseconds(80), count: 100)),
            clock: .success(.init(ahead: .milliseconds(1), uncertainty: .milliseconds(2))))
    }

    private func finding(_ check: Check, _ readings: RedisReadings, leeway: Duration? = nil) -> Finding {
        RedisChecks(readings: readings, leeway: leeway).findings.first { $0.check == check }
            ?? Finding(check, .skipped, "there is no such finding")
    }

    @Test("a healthy Redis: everything is ok, and nothing is to be done")
    func healthy() {
        let findings = RedisChecks(readings: readings()).findings
        for finding in findings { #expect(finding.verdict == .ok, "\(finding)") }
        #expect(Set(findings.map(\.check)).count == findings.count)
        #expect(RedisReadings.facts("# Server\r\nredis_version:7.0.15\r\n") == ["redis_version": "7.0.15"])
    }

    @Test(
        "versions",
        arguments: [
            ("6.0.16", Finding.Verdict.failure), ("6.2.0", .ok), ("7.4.1", .ok), ("10.0", .ok), ("5.9.9", .failure),
        ])
    func versions(version: String, verdict: Finding.Verdict) {
        #expect(finding(.version, readings(["redis_version": version])).verdict == verdict)
        let valkey = readings(["redis_version": "7.2.4", "valkey_version": "8.1.0"])
        #expect(finding(.version, valkey).found == "Valkey 8.1.0")
    }

    @Test("a replica, a node of a cluster and a Sentinel cannot be used by workers")
    func roles() {
        let replica = finding(.role, readings(role: ["slave", "10.0.0.7", "6380", "connected", "5"]))
        #expect(replica.verdict == .failure && replica.advice?.contains("redis://10.0.0.7:6380") == true)
        #expect(finding(.role, readings(["cluster_enabled": "1"])).verdict == .failure)
        #expect(RedisChecks(readings: readings(["cluster_enabled": "1"]), isCluster: true).findings[1].verdict == .ok)
        #expect(finding(.role, readings(role: ["sentinel", "1"])).advice?.contains("redis+sentinel://") == true)
        #expect(finding(.role, readings(role: ["master", "7", "1"])).found == "a primary with 1 replica")
        #expect(finding(.role, readings(role: ["slave"])).verdict == .skipped)
    }

    @Test("all living workers append events, as the configuration says, and no other program has their keys")
    func events() {
        func verdict(_ isEnabled: Bool, _ appending: [String], _ silent: [String], foreign: [String] = [])
            -> Finding.Verdict
        {
            var readings = readings()
            readings.events = .success(EventReadings(foreign: foreign, appending: appending, silent: silent))
            return RedisChecks(readings: readings, areEventsEnabled: isEnabled).findings.first { $0.check == .events }!
                .verdict
        }
        for (isEnabled, appending, silent) in [
            (false, [], []), (false, [], ["w1"]), (true, [], []), (true, ["w1", "w2"], []),
        ] {
            #expect(verdict(isEnabled, appending, silent) == .ok, "\(isEnabled) \(appending) \(silent)")
        }
        for (isEnabled, appending, silent) in [(true, ["w1"], ["w2"]), (true, [], ["w1"]), (false, ["w1"], [])] {
            #expect(verdict(isEnabled, appending, silent) == .failure, "\(isEnabled) \(appending) \(silent)")
        }
        #expect(verdict(true, [], [], foreign: ["events"]) == .failure)
    }

    @Test("any policy but noeviction fails under a limit, and is a warning without one")
    func eviction() {
        let evicting = readings(["maxmemory_policy": "volatile-ttl", "evicted_keys": "7"])
        #expect(finding(.eviction, evicting).verdict == .failure)
        #expect(finding(.eviction, evicting).found.contains("7 keys are gone already"))
        let idle = readings(["maxmemory_policy": "allkeys-lru", "maxmemory": "0"])
        #expect(finding(.eviction, idle).verdict == .warning)
    }

    @Test("an append-only file that the user default may not load fails, and none is a warning")
    func persistence() {
        var readings = readings()
        readings.replay = .success(["User default has no permissions to run the 'hset' command"])
        let failed = finding(.persistence, readings)
        #expect(failed.verdict == .failure && failed.advice?.contains("ACL SETUSER default off ~* &* +@all") == true)
        readings.replay = .failure(.denied("acl|dryrun"))
        #expect(finding(.persistence, readings).found.contains("+acl|dryrun"))
        readings.info = .success(["aof_enabled": "0"])
        #expect(finding(.persistence, readings).verdict == .warning)
    }

    @Test("a limit of the clients' memory is a warning, and so are clients that met it")
    func clients() {
        #expect(finding(.clients, readings(["evicted_clients": "3"])).found.contains("disconnected 3 clients"))
        var readings = readings()
        for (limit, verdict) in [("", Finding.Verdict.ok), ("0", .ok), ("5%", .warning), ("1048576", .warning)] {
            readings.clientMemory = .success(limit)
            #expect(finding(.clients, readings).verdict == verdict, "\(limit)")
        }
    }

    /// Regression: the doctor's own user, created as on its page, was reported to lack nearly all rights.
    @Test("missing rights are named as ACL rules, and a user that may only read is not a worker's")
    func rights() {
        var readings = readings()
        readings.shortfall = .success(Shortfall(rights: [.keys("presence:{*}"), .command("zadd")]))
        #expect(finding(.rights, readings).verdict == .failure)
        #expect(finding(.rights, readings).advice?.contains("ACL SETUSER rollcall ~presence:{*} +zadd") == true)
        readings.shortfall = .success(Shortfall(rights: ["multi", "discard", "evalsha"].map { .command($0) }))
        #expect(finding(.rights, readings).verdict == .skipped)
        readings.info = .failure(.denied("info"))
        #expect(finding(.rights, readings).verdict == .failure)
        readings.shortfall = .success(Shortfall(commands: ["EVALSHA"]))
        #expect(finding(.rights, readings).found.contains("EVALSHA"))
    }

    @Test("a primary that refuses writes fails by its role, and not by its rights")
    func refusal() {
        var readings = readings()
        readings.shortfall = .success(Shortfall(refusal: "NOREPLICAS Not enough good replicas to write."))
        #expect(finding(.rights, readings).verdict == .ok && finding(.role, readings).verdict == .failure)
        #expect(finding(.role, readings).found.contains("NOREPLICAS"))
    }

    @Test("slow answers are a warning")
    func latency() {
        for (slowest, verdict) in [(Duration.milliseconds(99), Finding.Verdict.ok), (.milliseconds(101), .warning)] {
            var readings = readings()
            readings.roundTrips = .success([.microseconds(250), .milliseconds(2), slowest])
            #expect(finding(.latency, readings).verdict == verdict)
            #expect(finding(.latency, readings).found.hasPrefix("p50 2.0 ms, p99 "))
        }
    }

    @Test("clocks that differ by more than half a second are a warning, by more than the leeway a failure")
    func clocks() {
        func verdict(_ ahead: Duration, leeway: Duration? = nil) -> Finding.Verdict {
            var readings = readings()
            readings.clock = .success(.init(ahead: ahead, uncertainty: .milliseconds(10)))
            return finding(.clock, readings, leeway: leeway).verdict
        }
        #expect(verdict(.milliseconds(505)) == .ok && verdict(.milliseconds(-505)) == .ok)
        #expect(verdict(.milliseconds(520)) == .warning && verdict(.milliseconds(-520)) == .warning)
        #expect(verdict(.seconds(29), leeway: .seconds(30)) == .warning)
        #expect(verdict(.seconds(-31), leeway: .seconds(30)) == .failure)
    }

    @Test("what the Redis user may not read is skipped, with the missing right")
    func denied() {
        var readings = readings()
        readings.info = .failure(.denied("info"))
        for check in [Check.version, .eviction] {
            #expect(finding(check, readings).verdict == .skipped && finding(check, readings).found.contains("+info"))
        }
        #expect(finding(.role, readings).verdict == .ok)
    }
}
