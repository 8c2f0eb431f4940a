// A worker that receives SIGTERM sends its devices elsewhere and ends its lease.

import Foundation
import Harness
import RollcallClient
import RollcallProtocol
import TestSupport
import Testing

@Suite("A worker on SIGTERM")
struct OrderlyStopTests {
    @Test(
        "sends goodbye to all devices, ends its lease with the grace and exits with 0",
        arguments: [SIGTERM, SIGINT, SIGHUP])
    func drains(on signal: Int32) async throws {
        let deployment = try await Deployment(
            workers: 1, settings: ["presence.grace": "3s", "worker.drain": "1s"])
        let worker = deployment.workers[0]
        let alice = try await worker.device("alice", "phone")
        let bob = try await worker.device("bob", "phone")
        let stranger = try await WireDevice(port: worker.port)

        worker.process.signal(signal)
        for device in [alice, bob] {
            #expect(try await device.closed() == .draining)
            #expect(device.messages.contains(.goodbye(.init(reason: .draining, reconnect: true, after: 0))))
        }
        _ = try await stranger.closed()
        #expect(try await worker.process.exitCode() == 0)
        try await eventually("all output was read") { worker.process.outputEnded }
        let log = worker.process.errors
        #expect(log.contains("draining") && !log.contains("error") && !log.contains("warning"), "\(log)")
        let end = try #require(Int(try await deployment.redis.cli("ZSCORE", "{workers}", worker.incarnation)))
        let ahead = end - Int(Date().timeIntervalSince1970 * 1000)
        #expect(ahead <= 3000, "the lease ends in \(ahead) ms")
    }

    @Test("exits at once, and ends its lease, if it has no devices")
    func nobodyThere() async throws {
        let deployment = try await Deployment(workers: 1, settings: ["presence.grace": "61s", "worker.drain": "60s"])
        let (worker, redis) = (deployment.workers[0], deployment.redis)
        worker.process.signal(SIGTERM)
        #expect(try await worker.process.exitCode() == 0)
        let end = try #require(Int(try await redis.cli("ZSCORE", "{workers}", worker.incarnation)))
        #expect(end <= Int(Date().timeIntervalSince1970 * 1000))
    }

    @Test("names another worker to its devices, but none that is stopping too")
    func handsOver() async throws {
        let deployment = try await Deployment(workers: 2)
        let redis = deployment.redis
        let leaver = try await WorkerProcess("leaver", redis: redis.url)
        let lingers = try await leaver.device("somebody", "phone")
        leaver.process.signal(SIGTERM)
        try await eventually("the other workers know it") {
            try await redis.cli("HGET", "{workers}:\(leaver.incarnation)", "draining") == "1"
        }
        #expect(try await destination(of: deployment.workers[0]) == deployment.workers[1].edge)
        #expect(try await lingers.closed() == .draining)
    }

    @Test("names no worker with the same address, where a load balancer chooses one")
    func sharedAddress() async throws {
        let deployment = try await Deployment(
            workers: 2, settings: ["edge.public_url": "wss://chat.example/v1/connect", "worker.drain": "1s"])
        #expect(try await destination(of: deployment.workers[0]) == nil)
    }

    /// Returns where a worker that receives SIGTERM sends its device.
    private func destination(of worker: WorkerProcess) async throws -> String? {
        let device = try await worker.device("alice", "phone")
        worker.process.signal(SIGTERM)
        #expect(try await device.closed() == .draining)
        let goodbyes = device.messages.compactMap { if case .goodbye(let goodbye) = $0 { goodbye } else { nil } }
        #expect(goodbyes.map(\.after) == [0])
        return goodbyes.first?.to?.string
    }

    @Test("is not noticed by observers: its devices reconnect elsewhere")
    func drainIsNotSeen() async throws {
        let deployment = try await Deployment(workers: 2)
        let bob = try await deployment.client("bob", "laptop", on: 1)
        let seen = Observer(bob.presence(of: "alice"))
        let first = try await deployment.workers[0].device("alice", "phone")
        try await seen.sees(.online)

        deployment.workers[0].process.signal(SIGTERM)
        #expect(try await first.closed() == .draining)
        let second = try await deployment.workers[1].device("alice", "phone")
        #expect(try await deployment.workers[0].process.exitCode() == 0)
        // When an observer sees a change made after this, the stopped worker's lease has certainly expired.
        try await eventually("the drained worker's lease is over") {
            let worker = deployment.workers[0].incarnation
            return try await deployment.redis.cli("ZSCORE", "{workers}", worker).isEmpty
        }
        try await second.ask(.state(.idle))
        try await seen.sees(.away)
        #expect(!seen.all.map(\.status).dropFirst().contains(.offline), "\(seen.all)")
    }
}
