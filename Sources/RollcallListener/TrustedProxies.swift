// Finds the client's address behind proxies. Each proxy appends the address that it sees to a header, but clients can
// forge entries too. Only entries added by trusted proxies count, so the header is read from the right.

import NIOCore
import NIOHTTP1
import RollcallModel

/// The proxies whose headers are trusted.
struct TrustedProxies: Sendable {
    private let networks: [Network]

    /// - Parameter texts: Addresses, and networks such as `10.0.0.0/8`; other texts are ignored.
    init(_ texts: [String]) {
        networks = texts.compactMap(Network.init)
    }

    /// Whether a text is an address or a network.
    static func isNetwork(_ text: String) -> Bool { Network(text) != nil }

    /// Returns the client's address: the nearest hop, going back from here, that is not a trusted proxy.
    ///
    /// - Parameter peer: The other end of the connection.
    func client(of peer: SocketAddress?, _ headers: HTTPHeaders) -> String? {
        guard var client = peer?.ipAddress, !networks.isEmpty else { return peer?.ipAddress }
        for hop in headers[canonicalForm: "x-forwarded-for"].reversed() {
            guard trusts(client), let address = Network.address(in: String(hop)) else { break }
            client = address
        }
        return client
    }

    private func trusts(_ address: String) -> Bool {
        networks.contains { $0.contains(address) }
    }
}

/// A network: addresses with a common prefix.
private struct Network {
    private let bytes: [UInt8]
    private let bits: Int

    init?(_ text: String) {
        let parts = text.parts(at: "/")
        guard let first = parts.first, let bytes = Self.bytes(of: first), parts.count <= 2 else { return nil }
        let most = bytes.count * 8
        guard let bits = parts.count == 1 ? most : Int(parts[1]), (0...most).contains(bits) else { return nil }
        self.bytes = bytes
        self.bits = bits
    }

    func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
        return (0..<bits).allSatisfy { bit in
            let mask: UInt8 = 0x80 >> (bit % 8)
            return bytes[bit / 8] & mask == other[bit / 8] & mask
        }
    }

    /// The address of a hop in canonical form; some proxies add a port.
    static func address(in hop: String) -> String? {
        let hasPort = hop.begins(with: "[") || hop.utf8.count { $0 == UInt8(ascii: ":") } == 1
        let host = hasPort ? Loopback.host(of: hop) : hop
        return (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress
    }

    private static func bytes(of address: String) -> [UInt8]? {
        (try? SocketAddress(ipAddress: address, port: 0))?.networkBytes
    }
}

extension SocketAddress {
    /// The IP address in network byte order; `nil` if there is none. IPv4-mapped IPv6 addresses (`::ffff:1.2.3.4`),
    /// which a listener on `::` receives, count as IPv4.
    var networkBytes: [UInt8]? {
        // The address follows the family and port, and in IPv6 the flow label.
        let place: Range<Int>
        switch self {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket: return nil
        }
        let bytes = withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1)[place]) }
        let isMapped = bytes.count == 16 && bytes.starts(with: Array(repeating: 0, count: 10) + [0xFF, 0xFF])
        return isMapped ? Array(bytes.suffix(4)) : bytes
    }
}

/// What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, because one client usually has
/// the whole /64 network.
struct ClientAddress: Hashable {
    private let network: UInt64
    /// Whether the socket's peer is this machine, or the socket is closed. Proxy headers do not count here, because
    /// clients can forge them.
    let isLocal: Bool

    /// The address of a socket's peer.
    init(of peer: SocketAddress?) {
        network = Self.network(peer)
        isLocal = peer?.ipAddress.map { Loopback.contains($0) } ?? true
    }

    /// An address named by a proxy.
    init(named text: String) {
        network = Self.network(try? SocketAddress(ipAddress: text, port: 0))
        isLocal = false
    }

    private static func network(_ address: SocketAddress?) -> UInt64 {
        (address?.networkBytes ?? []).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
