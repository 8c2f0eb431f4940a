// What a cluster's nodes report.

import RollcallModel
import RollcallRedis

/// A cluster as one of its nodes sees it.
struct ClusterReading: Sendable {
    /// By Redis's names: `cluster_state`, `cluster_slots_ok` and so on.
    var facts: [String: String]
    var primaries: [RedisLocation.Address]
    /// The primaries without a replica.
    var lone: [RedisLocation.Address]
}

extension ClusterReading {
    /// Asks one node.
    init(_ visit: RedisVisit, at asked: RedisLocation.Address) async throws(Unread) {
        let info = try await visit.ask("CLUSTER", "INFO").reading(right: "cluster|info") { $0.string }.get()
        let slots = try await visit.ask("CLUSTER", "SLOTS").reading(right: "cluster|slots") { $0 }.get()
        let pairs = info.split(whereSeparator: \.isNewline).map {
            $0.split(separator: ":", maxSplits: 1).map(String.init)
        }
        facts = Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { first, _ in first }
        primaries = ClusterMap(slots, from: asked)?.primaries ?? []
        let bare = RedisValue.array((slots.array ?? []).filter { $0.array?.count == 3 })
        lone = ClusterMap(bare, from: asked)?.primaries ?? []
    }
}
