// Failures that a deployment survives: suspended or killed workers, a killed Redis, and unexpected messages.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("Failures in a deployment")
struct FaultTests {
    /// The shortest valid lease, so that tests need not wait long for its end.
    private static let short = ["worker.lease": "1500ms", "worker.heartbeat": "500ms"]

    @Test("a worker that receives SIGTERM while it waits for Redis at startup exits at once with 0")
    func stopBeforeReady() async throws {
        let port = try freePort()
        let worker = try WorkerProcess.start([
            "redis.url": "redis://127.0.0.1:\(try freePort())", "redis.connect_timeout": "30s", "edge.port": "\(port)",
        ])
        try await eventually("the edge listens") { (try? await WireDevice(port: port)) != nil }
        worker.signal(SIGTERM)
        #expect(try await worker.exitCode() == 0)
    }

    @Test(
        "a worker that receives SIGTERM while Redis is away does not wait for writes that cannot succeed",
        .enabled(if: isSoaking))
    func stopWithoutRedis() async throws {
        // If the worker waited for the writes, it would take two seconds more than the drain.
        let deployment = try await Deployment(workers: 1, settings: ["worker.drain": "0s"])
        let worker = deployment.workers[0]
        let alice = try await worker.device("alice", "phone")
        try await deployment.redis.kill()
        try await eventually("the worker has noticed") { worker.process.errors.contains("Redis lost") }
        let told = ContinuousClock.now
        worker.process.signal(SIGTERM)
        #expect(try await alice.closed() == .draining)
        #expect(try await worker.process.exitCode() == 0)
        #expect(ContinuousClock.now - told < .milliseconds(1900))
    }

    @Test("after Redis was killed and restarted empty, all devices are online and typing is shown again")
    func redisComesBackEmpty() async throws {
        let deployment = try await Deployment(workers: 2, settings: Self.short, on: .server)
        let (alice, bob) = try await pair(on: deployment)
        try await deployment.redis.kill()
        try await eventually("both workers have noticed") {
            deployment.workers.allSatisfy { $0.process.errors.contains("Redis lost") }
        }
        let again = try await RedisServer(port: deployment.redis.servers[0].port)
        try await eventually("both have a new incarnation") {
            let names = try await again.cli("ZRANGE", "{workers}", "0", "-1").split(separator: "\n")
            let online = try await again.cli("HGET", "presence:{alice}", "status") == "online"
            return names.count == 2 && online
                && deployment.workers.allSatisfy { !names.contains(Substring($0.incarnation)) }
        }
        try await seesTyping(of: alice, bob)
        #expect(alice.close == nil && bob.close == nil)
    }

    @Test("a worker suspended beyond its lease is swept, and serves its devices under a new incarnation")
    func sleptThroughLease() async throws {
        let deployment = try await Deployment(workers: 2, settings: Self.short)
        let (alice, bob) = try await pair(on: deployment)
        let (sleeper, redis) = (deployment.workers[0], deployment.redis)
        sleeper.process.signal(SIGSTOP)
        try await eventually("the suspended worker is swept") {
            try await redis.cli("ZSCORE", "{workers}", sleeper.incarnation).isEmpty
        }
        #expect(try await redis.cli("HGET", "presence:{alice}", "status") == "offline")
        sleeper.process.signal(SIGCONT)
        try await eventually("alice is online again") {
            try await redis.cli("HGET", "presence:{alice}", "status") == "online"
        }
        try await seesTyping(of: alice, bob)
        #expect(alice.close == nil)
    }

    @Test(
        "unexpected messages on its channels do not crash a worker",
        arguments: [
            #"{"user":"x","typing":true,"expires_in":9223372036854775807,"at":1}"#,
            #"{"user":"x","typing":true,"expires_in":3000,"at":9223372036854775807}"#,
            #"{"user":"x","typing":true,"expires_in":-9223372036854775808,"at":-9223372036854775808}"#,
            #"{"user":"x","typing":true,"expires_in":1e300,"at":1}"#, "[]", "",
        ])
    func garbageIsPublished(_ payload: String) async throws {
        let deployment = try await Deployment(workers: 2)
        let (alice, bob) = try await pair(on: deployment)
        try await deployment.redis.publish(payload, to: "typing:{c42}")
        try await seesTyping(of: alice, bob)
    }

    // MARK: Two users on different workers

    private func pair(on deployment: Deployment) async throws -> (WireDevice, WireDevice) {
        let alice = try await deployment.workers[0].device("alice", "phone")
        let bob = try await deployment.workers[1].device("bob", "laptop")
        for device in [alice, bob] { try await device.ask(.join("c42", presence: false)) }
        try await bob.ask(.watch(["alice"]))
        return (alice, bob)
    }

    private func seesTyping(of alice: WireDevice, _ bob: WireDevice) async throws {
        try await eventually("alice's worker accepts typing") { try await alice.ask(.typing("c42", true)) == nil }
        try await eventually("bob sees alice type, received: \(bob.messages)") {
            try await bob.typing(in: "c42")?.users.contains { $0.user == "alice" } == true
        }
    }
}
