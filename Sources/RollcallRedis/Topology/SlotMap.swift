// Which server has which keys. A single server is a map with one entry.

import RollcallProtocol

/// The primaries of a deployment, and the primary of each slot.
package struct SlotMap: Hashable, Sendable {
    package typealias Address = RedisLocation.Address

    /// The primaries that have slots.
    package private(set) var primaries: [Address] = []
    /// Their replicas, which can also be asked for the map.
    private(set) var replicas: [Address] = []
    /// For each slot, the index of its primary; empty if there is only one.
    private var owners: [UInt16] = []

    /// One server has all keys.
    package init(_ server: Address) {
        primaries = [server]
    }

    /// Decodes a reply to `CLUSTER SLOTS`.
    ///
    /// - Parameters:
    ///   - server: the node that replied. A node that does not know its own name leaves the host empty.
    ///   - former: the previous map. A slot without a primary keeps the previous one, so that commands get a meaningful
    ///     error.
    /// - Returns: `nil` if no node has any slot.
    init?(_ slots: RedisValue, from server: Address, after former: SlotMap? = nil) {
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
    func hasSlots(of other: SlotMap) -> Bool { primaries == other.primaries && owners == other.owners }

    /// Returns the index in ``primaries`` of a slot's primary.
    func place(of slot: Int) -> Int { owners.isEmpty ? 0 : Int(owners[slot]) }

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
        return server.called(parts[0].text, port: Int(port))
    }
}

extension RedisLocation.Address {
    /// Returns the address that this node reported. An empty host, or `?`, means the node's own host.
    func called(_ host: ByteString?, port: Int) -> Self? {
        if let host, !host.isEmpty, host != "?" { return .host(host.string, port: port) }
        guard case .host(let own, _) = self else { return nil }
        return .host(own, port: port)
    }
}
// The slot of a name in a Redis Cluster. The part between the first braces determines it, for keys and channels alike.

/// The slots of a Redis Cluster.
enum KeySlot {
    static let count = 16_384

    /// Returns the slot of a key or a channel.
    static func of(_ name: String) -> Int {
        var name = name
        return name.withUTF8 { bytes in
            guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
                let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
            else { return of(UnsafeRawBufferPointer(bytes)) }
            return of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[(open + 1)..<close]))
        }
    }

    /// Returns the slot of all names with this hash tag.
    static func of(tag: String) -> Int {
        var tag = tag
        return tag.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    private static func of(_ bytes: UnsafeRawBufferPointer) -> Int { Checksum(of: bytes).slot }

    /// The checksum that determines a slot: CRC-16/XMODEM, computed byte by byte.
    struct Checksum {
        private var value: UInt16 = 0

        init(of bytes: some Sequence<UInt8>) {
            for byte in bytes { add(byte) }
        }

        mutating func add(_ byte: UInt8) {
            value = value << 8 ^ table[Int(UInt8(value >> 8) ^ byte)]
        }

        var slot: Int { Int(value) % count }
    }

    /// The contribution of each byte value.
    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { share, _ in share & 0x8000 == 0 ? share << 1 : share << 1 ^ 0x1021 }
    }
}
