// Which primary has which slots, as a node of the cluster tells it.

/// The primaries of a Redis Cluster, and who of them has each slot.
package struct ClusterMap: Hashable, Sendable {
    package typealias Address = RedisLocation.Address

    /// Those that have slots.
    package private(set) var primaries: [Address] = []
    /// Their replicas, which may be asked for the map too.
    private(set) var replicas: [Address] = []
    /// Of each slot, the place of its primary.
    private var owners: [UInt16]

    /// Reads the answer to `CLUSTER SLOTS`.
    ///
    /// - Parameters:
    ///   - server: who answered; a node that does not know how it is called leaves the host out.
    ///   - former: the map before this. A slot that nobody has now stays with whoever had it, to be asked what is the
    ///     matter.
    /// - Returns: `nil` if nobody has any slot.
    package init?(_ slots: RedisValue, from server: Address, after former: ClusterMap? = nil) {
        owners = Array(repeating: .max, count: KeySlot.count)
        for range in slots.array ?? [] {
            guard let parts = range.array, parts.count >= 3, let first = parts[0].integer, let last = parts[1].integer,
                first >= 0, first <= last, last < KeySlot.count, let primary = Self.address(parts[2], from: server)
            else { continue }
            // As many as there are slots, and no more.
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

    /// The primary of a slot.
    package subscript(slot: Int) -> Address { primaries[place(of: slot)] }

    /// Whether each slot has the same primary there, whatever replicas they have.
    func hasSlots(of other: ClusterMap) -> Bool { primaries == other.primaries && owners == other.owners }

    /// Where in ``primaries`` that of a slot stands.
    func place(of slot: Int) -> Int { Int(owners[slot]) }

    /// A node said that another has this slot.
    mutating func moved(_ slot: Int, to primary: Address) {
        owners[slot] = place(of: primary)
    }

    private mutating func place(of primary: Address) -> UInt16 {
        if let place = primaries.firstIndex(of: primary) { return UInt16(place) }
        primaries.append(primary)
        return UInt16(primaries.count - 1)
    }

    /// A node: host, port, and more.
    private static func address(_ node: RedisValue, from server: Address) -> Address? {
        guard let parts = node.array, parts.count >= 2, let port = parts[1].integer, (1...65_535).contains(port) else {
            return nil
        }
        return server.called(parts[0].string, port: Int(port))
    }
}

extension RedisLocation.Address {
    /// The node that this one calls so; by no name, or `?`, it means its own host.
    func called(_ host: String?, port: Int) -> Self? {
        if let host, !host.isEmpty, host != "?" { return .host(host, port: port) }
        guard case .host(let own, _) = self else { return nil }
        return .host(own, port: port)
    }
}
