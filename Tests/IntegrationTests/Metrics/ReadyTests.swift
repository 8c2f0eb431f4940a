// What a load balancer learns about a worker.

import Foundation
import Harness
import TestSupport
import Testing

@Suite("The readiness of a worker")
struct ReadyTests {
    private func ready(_ worker: WorkerProcess) async throws -> Int {
        try await Web.get("\(worker.admin)/ready").status
    }

    @Test("is false while it drains, even with a new lease, while metrics are still served")
    func draining() async throws {
        let deployment = try await Deployment(
            workers: 1, settings: ["presence.grace": "61s", "worker.drain": "60s"])
        let (worker, redis) = (deployment.workers[0], deployment.redis)
        // So many that the test runs before all have left.
        var devices: [WireDevice] = []
        for number in 0..<12 { devices.append(try await worker.device("user\(number)", "phone")) }
        #expect(try await ready(worker) == 200)
        worker.process.signal(SIGTERM)
        try await eventually("it is not ready") { try await ready(worker) == 503 }
        let primary = try await redis.primary(of: "{workers}")
        let clients = try await primary.cli("CLIENT", "LIST").split(separator: "\n")
        let beats = try #require(clients.first { $0.contains("-beats ") })
        let id = try #require(beats.split(separator: " ").first?.dropFirst("id=".count))
        try await primary.cli("CLIENT", "KILL", "ID", String(id))
        try await eventually("a new lease begins, and is reported", every: .milliseconds(50)) {
            let page = try await MetricsPage(worker)
            return page["rollcall_incarnations_total"] == 2 && page["rollcall_lease_held"] == 1
        }
        #expect(try await ready(worker) == 503)
        let page = try await MetricsPage(worker)
        #expect(page["rollcall_draining"] == 1 && page["rollcall_ready"] == 0)
        #expect(try await Web.get("\(worker.admin)/health").status == 200)
        worker.crash()
    }

    @Test("stays true during a short outage of Redis, and is false after six leases without Redis until it is back")
    func withoutRedis() async throws {
        let deployment = try await Deployment(
            workers: 1, settings: ["worker.lease": "1s", "worker.heartbeat": "300ms"], on: .server)
        let (worker, server) = (deployment.workers[0], deployment.redis.servers[0])
        server.process.kill()
        try await eventually("it has noticed", every: .milliseconds(50)) {
            try await Web.get("\(worker.admin)/v1/presence?user=alice").status == 503
        }
        try await eventually("it is not ready", every: .milliseconds(50)) { try await ready(worker) == 503 }
        let again = try await RedisServer(port: server.port)
        try await eventually("it is ready again", every: .milliseconds(50)) { try await ready(worker) == 200 }
        #expect(again.process.isRunning)
    }
}
