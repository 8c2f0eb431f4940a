// One cluster node's view of all nodes: the lines of `CLUSTER NODES`.

/// The nodes of a cluster.
struct ClusterNodes: Sendable {
    private let nodes: [Node]

    private struct Node {
        let port: Int
        let isReplica: Bool
        let slots: [ClosedRange<Int>]
    }

    /// - Returns: `nil` if this is not a node's answer.
    init?(_ lines: [String]) {
        nodes = lines.compactMap(Self.node)
        if nodes.isEmpty { return nil }
    }

    /// Parses `ID HOST:PORT@BUSPORT FLAGS PRIMARY PING PONG EPOCH LINK SLOT SLOT-SLOT …`.
    private static func node(_ line: String) -> Node? {
        let words = line.split(separator: " ")
        guard words.count >= 8, let address = words[1].split(separator: "@").first,
            let port = address.split(separator: ":").last.flatMap({ Int($0) })
        else { return nil }
        let slots = words[8...].compactMap { range -> ClosedRange<Int>? in
            let ends = range.split(separator: "-").compactMap { Int($0) }
            guard let first = ends.first, let last = ends.last, first <= last else { return nil }
            return first...last
        }
        return Node(port: port, isReplica: words[2].split(separator: ",").contains("slave"), slots: slots)
    }

    var replicaCount: Int { nodes.count { $0.isReplica } }

    /// Returns the port of the node that owns a slot.
    func owner(of slot: Int) -> Int? {
        nodes.first { $0.slots.contains { $0.contains(slot) } }?.port
    }

    /// Whether the node on this port owns any slot.
    func hasSlots(_ port: Int) -> Bool {
        nodes.contains { $0.port == port && !$0.slots.isEmpty }
    }
}
