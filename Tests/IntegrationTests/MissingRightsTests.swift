// A worker whose Redis user lacks permissions.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("A missing Redis permission", .timeLimit(.minutes(1)))
struct MissingRightsTests {
    @Test("of a heartbeat keeps a worker from starting, which says what Redis denied")
    func atTheStart() async throws {
        let redis = try await RedisServer()
        try await redis.cli("ACL", "SETUSER", "rollcall", "-zadd")
        let worker = try WorkerProcess.start(["redis.url": redis.url])
        #expect(try await worker.exitCode() == 69)
        try await eventually("it has printed the reason") { worker.errors.contains("\n") }
        #expect(worker.errors.contains("cannot be used by rollcall: rights that a worker needs are missing: +zadd;"))
        #expect(worker.errors.contains("Config/redis.acl lists all"), "\(worker.errors)")
        #expect(worker.output.isEmpty)
    }

    @Test("or a Redis that refuses writes keeps a worker from starting: it waits, and then names the setting")
    func noWrites() async throws {
        let redis = try await RedisServer(options: ["--min-replicas-to-write", "1"])
        let settings = ["redis.url": redis.url, "redis.connect_timeout": "500ms"]
        let worker = try WorkerProcess.start(settings)
        #expect(try await worker.exitCode() == 69)
        try await eventually("it has printed the reason") { worker.errors.contains("\n") }
        #expect(worker.errors.contains("refuses writes (NOREPLICAS "), "\(worker.errors)")
        #expect(worker.errors.contains("or lower min-replicas-to-write"), "\(worker.errors)")
        #expect(worker.output.isEmpty)
        async let patient = WorkerProcess("patient", redis: redis.url, settings: ["redis.connect_timeout": "60s"])
        try await eventually("it checks repeatedly") {
            try await redis.cli("INFO", "commandstats").contains(#/cmdstat_evalsha:calls=([2-9]|\d\d)/#)
        }
        try await redis.cli("CONFIG", "SET", "min-replicas-to-write", "0")
        _ = try await patient
    }

    @Test("that is revoked later is reported in the log")
    func later() async throws {
        let redis = try await RedisServer()
        let worker = try await WorkerProcess("w1", redis: redis.url)
        let alice = try await worker.device("alice", "phone")
        try await redis.cli("ACL", "SETUSER", "rollcall", "-zrangebyscore")
        try await alice.send(.join("c", presence: false))
        try await eventually("it is logged") { worker.process.errors.contains("Redis does not allow") }
    }
}
