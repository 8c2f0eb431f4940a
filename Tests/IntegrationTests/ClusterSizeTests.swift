// Counts the connections and subscriptions of workers on a cluster exactly. The formulas and sizes are those of
// docs/redis.md.

import Harness
import NIOCore
import RollcallClient
import TestSupport
import Testing

@Suite("Connections and subscriptions on a cluster", .enabled(if: isSoaking), .serialized, .timeLimit(.minutes(2)))
struct ClusterSizeTests {
    /// What all primaries together have of all workers.
    private struct Census: Hashable {
        /// The number of connections by purpose, without the worker's name.
        var connections: [String: Int] = [:]
        var subscriptions = 0

        init(workers: Int, primaries: Int, hears: Int, subscriptions: Int) {
            let loops = System.coreCount
            connections = [
                "commands": workers * loops * primaries, "hears": hears, "beats": workers * primaries, "asks": workers,
            ]
            self.subscriptions = subscriptions
        }

        init(of set: RedisClusterSet) async throws {
            for server in set.servers {
                for client in try await server.cli("CLIENT", "LIST").split(separator: "\n") {
                    guard let name = client.firstMatch(of: #/ name=rollcall(-w\d)?(?:-(\w+))? /#) else { continue }
                    connections[name.2.map(String.init) ?? "commands", default: 0] += 1
                }
                let channels = try await server.cli("PUBSUB", "SHARDCHANNELS").split(separator: "\n").map(String.init)
                let counts = try await server.cli(["PUBSUB", "SHARDNUMSUB"] + channels).split(separator: "\n")
                for (place, count) in counts.enumerated() where place % 2 == 1 { subscriptions += Int(count) ?? 0 }
            }
        }
    }

    @Test(
        "workers have the connections and subscriptions that the formulas give, independent of the number of devices",
        arguments: [2, 3], [3, 6])
    func size(workers count: Int, primaries: Int) async throws {
        let set = try await RedisClusterSet(primaries: primaries)
        var workers: [WorkerProcess] = []
        // The devices answer pings only when the test reads them, and a busy machine takes long to connect them all.
        for number in 1...count {
            workers.append(try await WorkerProcess("w\(number)", redis: set.url, settings: ["edge.ping": "5m"]))
        }
        // Without devices, each worker subscribes only to its own channel.
        try await expect(
            Census(workers: count, primaries: primaries, hears: count, subscriptions: count), of: set)

        let loops = System.coreCount
        let users = try (0..<24).map { try UserID("user\($0)") }
        let conversations: [ConversationID] = ["c1", "c2", "c3"]
        var devices: [WireDevice] = []
        for (place, worker) in workers.enumerated() {
            // Connections are assigned to event loops in turn, so each loop has two, which share its subscriptions.
            for number in 0..<2 * loops {
                let device = try await worker.device("user\(number)", "phone\(place)")
                try await device.ask(.watch(users))
                for conversation in conversations { try await device.ask(.join(conversation, presence: false)) }
                devices.append(device)
            }
        }
        let topics = users.count + 2 * conversations.count
        try await expect(
            Census(
                workers: count, primaries: primaries, hears: count * loops * primaries,
                subscriptions: count * (loops * topics + 1)),
            of: set)
        for worker in workers { #expect(worker.process.isRunning) }
        for device in devices { #expect(try await device.ask(.state(.active)) == nil) }
    }

    private func expect(_ expected: Census, of set: RedisClusterSet) async throws {
        try? await eventually("the counts match") { try await Census(of: set) == expected }
        let found = try await Census(of: set)
        #expect(found == expected)
    }
}
