// What a deployment survives: workers that stall or die, a Redis that dies, and messages from nobody knows where.

import Foundation
import Harness
import RollcallClient
import TestSupport
import Testing

@Suite("A deployment in trouble")
struct FaultTests {
    /// A lease as short as it may be, so that a test need not wait long for its end.
    private static let short = ["worker.lease": "1500ms", "worker.heartbeat": "500ms"]

    @Test("a worker that is told to stop while it waits for Redis leaves at once, in good order")
    func stopBeforeReady() async throws {
        let port = try freePort()
        let worker = try WorkerProcess.start([
            "redis.url": "redis://127.0.0.1:\(try freePort())", "redis.connect_timeout": "30s", "edge.port": "\(port)",
        ])
        try await eventually("the edge listens") { (try? await WireDevice(port: port)) != nil }
        worker.signal(SIGTERM)
        #expect(try await worker.exitCode() == 0)
    }

    @Test("a worker that is told to stop while Redis is away does not wait for what cannot be written")
    func stopWithoutRedis() async throws {
        // Were the writes awaited, it would be for two seconds beyond the drain.
        let deployment = try await Deployment(workers: 1, settings: ["worker.drain": "0s"])
        let worker = deployment.workers[0]
        let alice = try await worker.device("alice", "phone")
        try await deployment.redis.kill()
        try await eventually("the worker knows") { worker.process.errors.contains("Redis lost") }
        let told = ContinuousClock.now
        worker.process.signal(SIGTERM)
        #expect(try await alice.closed() == .draining)
        #expect(try await worker.process.exitCode() == 0)
        #expect(ContinuousClock.now - told < .milliseconds(1900))
    }

    @Test("after Redis died and came back empty, all are here and typing is seen again")
    func redisComesBackEmpty() async throws {
        let deployment = try await Deployment(workers: 2, settings: Self.short, on: .server)
        let (alice, bob) = try await pair(on: deployment)
        try await deployment.redis.kill()
        try await eventually("both workers know") {
            deployment.workers.allSatisfy { $0.process.errors.contains("Redis lost") }
        }
        let again = try await RedisServer(port: deployment.redis.servers[0].port)
        try await eventually("both are asserted under new names") {
            let names = try await again.cli("ZRANGE", "{workers}", "0", "-1").split(separator: "\n")
            let online = try await again.cli("HGET", "presence:{alice}", "status") == "online"
            return names.count == 2 && online
                && deployment.workers.allSatisfy { !names.contains(Substring($0.incarnation)) }
        }
        try await seesTyping(of: alice, bob)
        #expect(alice.close == nil && bob.close == nil)
    }

    @Test("a worker that slept through its lease is swept, and takes up its devices under a new name")
    func sleptThroughLease() async throws {
        let deployment = try await Deployment(workers: 2, settings: Self.short)
        let (alice, bob) = try await pair(on: deployment)
        let (sleeper, redis) = (deployment.workers[0], deployment.redis)
        sleeper.process.signal(SIGSTOP)
        try await eventually("the sleeper is swept") {
            try await redis.cli("ZSCORE", "{workers}", sleeper.incarnation).isEmpty
        }
        #expect(try await redis.cli("HGET", "presence:{alice}", "status") == "offline")
        sleeper.process.signal(SIGCONT)
        try await eventually("alice is here again") {
            try await redis.cli("HGET", "presence:{alice}", "status") == "online"
        }
        try await seesTyping(of: alice, bob)
        #expect(alice.close == nil)
    }

    @Test("the devices of a worker that is killed are offline within its lease and two seconds")
    func killed() async throws {
        // Whoever got no time for two heartbeats judges nobody for a while, rightly: so these are not too frequent.
        let settings = ["worker.lease": "3s", "worker.heartbeat": "1s"]
        let deployment = try await Deployment(workers: 2, settings: settings)
        let (_, bob) = try await pair(on: deployment)
        let killed = ContinuousClock.now
        deployment.workers[0].crash()
        try await eventually("bob sees alice leave") {
            try await bob.look()
            return bob.messages.contains { message in
                guard case .presence(let users, _) = message else { return false }
                return users.contains { $0.user == "alice" && $0.status == .offline }
            }
        }
        #expect(ContinuousClock.now - killed < .seconds(5))
        try await eventually("nothing of it is left") {
            try await deployment.redis.keys("*\(deployment.workers[0].incarnation)*").isEmpty
        }
    }

    @Test(
        "a message that nobody should publish ends no worker",
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

    // MARK: Two people, each on a worker of their own

    private func pair(on deployment: Deployment) async throws -> (WireDevice, WireDevice) {
        let alice = try await deployment.workers[0].device("alice", "phone")
        let bob = try await deployment.workers[1].device("bob", "laptop")
        for device in [alice, bob] { try await device.ask(.join("c42", presence: false)) }
        try await bob.ask(.watch(["alice"]))
        return (alice, bob)
    }

    private func seesTyping(of alice: WireDevice, _ bob: WireDevice) async throws {
        try await eventually("alice's worker takes typing") { try await alice.ask(.typing("c42", true)) == nil }
        try await eventually("bob sees alice type, having heard \(bob.messages)") {
            try await bob.typing(in: "c42")?.users.contains { $0.user == "alice" } == true
        }
    }
}
