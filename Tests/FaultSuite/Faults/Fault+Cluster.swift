// One primary of several goes, falls asleep, or gives its part away. What lies with the others goes on.

internal import Foundation
internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let clusterFaults =
        [roomsPrimaryKilled, leasesPrimaryKilled, nodeStalled, nodeFailedOver, resharded]

    private static func cluster(
        _ name: String, body: @escaping @Sendable (Stage, RedisClusterSet) async throws -> Void
    ) -> Fault {
        Fault(.redis, "Cluster: \(name)", on: [.cluster]) { stage in
            guard let set = stage.redis.whole.cluster else {
                preconditionFailure("the stage has what it was equipped with")
            }
            try await body(stage, set)
        }
    }

    private static func nodeKilled(_ name: String, _ key: @escaping @Sendable (Stage) -> String) -> Fault {
        cluster(name) { stage, set in
            let old = try await set.primary(of: key(stage))
            try await stage.outage(.failover(stage.settings)) {
                old.process.kill()
            } end: { _ in
                _ = try await set.primary(of: key(stage), besides: old)
            }
        }
    }

    private static let roomsPrimaryKilled = nodeKilled("primary of a conversation killed (-9)") {
        "typing:{\($0.room)}"
    }

    private static let leasesPrimaryKilled = nodeKilled("primary of the leases killed (-9)") { _ in "{workers}" }

    /// It wakes as a primary, and learns then that another has its place.
    private static let nodeStalled = cluster("primary stopped (SIGSTOP), and continued after its failover") {
        stage, set in
        let (key, old) = ("typing:{\(stage.room)}", try await set.primary(of: "typing:{\(stage.room)}"))
        try await stage.outage(.failover(stage.settings)) {
            old.process.signal(SIGSTOP)
        } end: { _ in
            _ = try await set.primary(of: key, besides: old)
            old.process.signal(SIGCONT)
        }
    }

    private static let nodeFailedOver = cluster("CLUSTER FAILOVER under load") { stage, set in
        let load = try await stage.load()
        let old = try await set.primary(of: "{workers}")
        try await stage.outage(.failover(stage.settings)) {
            try await set.failOver(old)
        } end: { _ in
            _ = try await set.primary(of: "{workers}", besides: old)
        }
        try await load.end()
    }

    private static let resharded = cluster("1,000 slots moved under load (reshard)") { stage, set in
        let load = try await stage.load()
        try await stage.outage {
            try await set.reshard(1000, from: set.servers[0], to: set.servers[1])
        } end: { _ in
        }
        try await load.end()
    }
}
