// Which primary has which slots, as a node of the cluster reports it.

/// The primaries of a Redis Cluster, and the primary of each slot.
package struct ClusterMap: Hashable, Sendable {
    package typealias Address = RedisLocation.Address

    /// The primaries that have slots.
    package private(set) var primaries: [Address] = []
    /// Their replicas, which can also be asked for the map.
    private(set) var replicas: [Address] = []
    /// For each slot, the index of its primary.
    private var owners: [UInt16]

    /// Decodes a reply to `CLUSTER SLOTS`.
    ///
    /// - Parameters:
    ///   - server: the node that replied. A node that does not know its own name leaves the host empty.
    ///   - former: the previous map. A slot without a primary keeps the previous one, so that commands get a meaningful
    ///     error.
    /// - Returns: `nil` if no node has any slot.
    package init?(_ slots: RedisValue, from server: Address, after former: ClusterMap? = nil) {
        owners = Array(repeating: .max, count: KeySlot.count)
        for range in slots.array ?? [] {
            guard let parts = range.array, parts.count >= 3, let first = parts[0].integer, let last = parts[1].integer,
                first >= 0, first <= last, last < KeySlot.count, let primary = Self.address(parts[2], from: server)
            else { continue }
            // There cannot be more primaries than slots.
            guard primaries.count < KeySlot.count || primaries.contains(primary) else { return nil }
            let place = place(of: primary)
            for slot in Int(first)...Int(last) { owners[slot] = place }
            for replica in parts[3...].compactMap({ Self.address($0, from: server) }) where !replicas.contains(replica)
            {
                replicas.append(replica)
            }
        }
        guard !primaries.isEmpty else { return nil }
        for slot in 0..<KeySlot.count where owners[slot] == .max {
            owners[slot] = former.map { place(of: $0[slot]) } ?? 0
        }
    }

    /// Returns the primary of a slot.
    package subscript(slot: Int) -> Address { primaries[place(of: slot)] }

    /// Whether each slot has the same primary in both maps, regardless of replicas.
    func hasSlots(of other: ClusterMap) -> Bool { primaries == other.primaries && owners == other.owners }

    /// Returns the index in ``primaries`` of a slot's primary.
    func place(of slot: Int) -> Int { Int(owners[slot]) }

    /// Handles a `MOVED` redirection: another node has this slot.
    mutating func moved(_ slot: Int, to primary: Address) {
        owners[slot] = place(of: primary)
    }

    private mutating func place(of primary: Address) -> UInt16 {
        if let place = primaries.firstIndex(of: primary) { return UInt16(place) }
        primaries.append(primary)
        return UInt16(primaries.count - 1)
    }

    /// Decodes a node: host, port and further fields.
    private static func address(_ node: RedisValue, from server: Address) -> Address? {
        guard let parts = node.array, parts.count >= 2, let port = parts[1].integer, (1...65_535).contains(port) else {
            return nil
        }
        return server.called(parts[0].string, port: Int(port))
    }
}

extension RedisLocation.Address {
    /// Returns the address that this node reported. An empty host, or `?`, means the node's own host.
    func called(_ host: String?, port: Int) -> Self? {
        if let host, !host.isEmpty, host != "?" { return .host(host, port: port) }
        guard case .host(let own, _) = self else { return nil }
        return .host(own, port: port)
    }
}
