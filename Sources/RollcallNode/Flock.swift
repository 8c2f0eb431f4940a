// The clients of a node, as long as somebody holds them: the node ends those that are left when it stops.

internal import RollcallClient

/// Clients, none of which lives because it is here.
struct Flock {
    private struct Member {
        weak var client: RollcallClient?
    }

    private var entries: [Member] = []
    /// With so many entries, those of clients that are gone are dropped.
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
