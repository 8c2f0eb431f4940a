// One of several primaries fails, is suspended, or gives up its slots. Keys on the other primaries are unaffected.

internal import Foundation
internal import Harness
internal import RollcallClient
internal import TestSupport

extension Fault {
    static let clusterFaults =
        [roomsPrimaryKilled, leasesPrimaryKilled, nodeStalled, nodeFailedOver, splitOff, resharded, added]

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

    /// It resumes as a primary, and then learns that a replica was promoted.
    private static let nodeStalled = cluster("primary stopped (SIGSTOP), and continued after its failover") {
        stage, set in
        let (key, old) = ("typing:{\(stage.room)}", try await set.primary(of: "typing:{\(stage.room)}"))
        try await stage.outage(.failover(stage.settings, mayLoseGoodbye: true)) {
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

    /// It soon notices that it is in the minority, and then accepts no commands.
    private static let splitOff = cluster("primary of the leases and one worker cut off, until others have a new one") {
        stage, set in
        let old = try await set.primary(of: "{workers}")
        var ids: [String] = []
        for server in set.servers { ids.append(try await server.cli("CLUSTER", "MYID")) }
        let place = set.servers.firstIndex { $0 === old } ?? 0
        try await stage.split {
            try await stage.redis.network.split(off: place, with: 0, nodes: ids)
        } promoted: {
            _ = try await set.primary(of: "{workers}", besides: old)
        } end: {
            try await stage.redis.network.heal()
            try await eventually("it is a replica") { try await old.cli("ROLE").hasPrefix("slave") }
        }
    }

    private static let resharded = cluster("1,000 slots moved under load (reshard)") { stage, set in
        let load = try await stage.load()
        try await stage.outage {
            try await set.reshard(1000, from: set.servers[0], to: set.servers[1])
        } end: { _ in
        }
        try await load.end()
    }

    /// The leases and the conversation move there as well.
    private static let added = cluster("a primary added, and 1,000 slots of each moved there, under load") {
        stage, set in
        let load = try await stage.load()
        try await stage.outage {
            let new = try await set.add()
            for old in set.servers.prefix(3) { try await set.reshard(1000, from: old, to: new) }
            for key in ["{workers}", "typing:{\(stage.room)}"] {
                let old = try await set.primary(of: key)
                if old !== new { try await set.move(try await set.slot(of: key), from: old, to: new) }
            }
        } end: { _ in
        }
        try await load.end()
    }
}
