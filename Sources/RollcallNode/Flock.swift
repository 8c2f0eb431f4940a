// The clients of a node. It references them weakly, and the node shuts down those that remain when it stops.

internal import RollcallClient

/// A set of weakly referenced clients.
struct Flock {
    private struct Member {
        weak var client: RollcallClient?
    }

    private var entries: [Member] = []
    /// The number of entries at which those of deallocated clients are removed.
    private var crowd = 16

    var members: [RollcallClient] { entries.compactMap(\.client) }

    mutating func add(_ client: RollcallClient) {
        if entries.count >= crowd {
            entries.removeAll { $0.client == nil }
            crowd = max(16, entries.count * 2)
        }
        entries.append(Member(client: client))
    }
}
