// Finds the client's address behind proxies. Each proxy appends the address that it sees to a header, but clients can
// forge entries too. Only entries added by trusted proxies count, so the header is read from the right.

package import NIOCore
package import NIOHTTP1
import RollcallProtocol

/// The proxies whose headers are trusted.
package struct TrustedProxies: Sendable {
    private let networks: [Network]

    /// - Parameter texts: Addresses, and networks such as `10.0.0.0/8`; other texts are ignored.
    package init(_ texts: [String]) {
        networks = texts.compactMap(Network.init)
    }

    /// Whether a text is an address or a network.
    package static func isNetwork(_ text: String) -> Bool { Network(text) != nil }

    /// Returns the client's address: the nearest hop, going back from here, that is not a trusted proxy.
    ///
    /// - Parameter peer: The other end of the connection.
    package func client(of peer: SocketAddress?, _ headers: HTTPHeaders) -> String? {
        guard var client = peer?.ipAddress, !networks.isEmpty else { return peer?.ipAddress }
        guard headers["x-forwarded-for"].allSatisfy({ ByteString($0).isASCII }) else { return client }
        for hop in headers[canonicalForm: "x-forwarded-for"].reversed() {
            guard trusts(client), let address = Network.address(in: ByteString(String(hop))) else { break }
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
        let parts = ByteString(text).parts(at: "/")
        guard let first = parts.first, let bytes = Self.bytes(of: first.string), parts.count <= 2 else { return nil }
        let most = bytes.count * 8
        guard let bits = parts.count == 1 ? most : Int(parts[1].string), (0...most).contains(bits) else { return nil }
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
    static func address(in hop: ByteString) -> String? {
        let hasPort = hop.begins(with: "[") || hop.utf8.count { $0 == UInt8(ascii: ":") } == 1
        let host = hasPort ? Loopback.host(of: hop) : hop
        return (try? SocketAddress(ipAddress: host.string, port: 0))?.ipAddress
    }

    private static func bytes(of address: String) -> [UInt8]? {
        (try? SocketAddress(ipAddress: address, port: 0))?.networkBytes
    }
}

/// What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, because one client usually has
/// the whole /64 network.
package struct ClientAddress: Hashable, Sendable {
    private let network: UInt64
    /// Whether the socket's peer is this machine, or the socket is closed. Proxy headers do not count here, because
    /// clients can forge them.
    package let isLocal: Bool

    /// The address of a socket's peer.
    package init(of peer: SocketAddress?) {
        network = Self.network(peer)
        isLocal = peer?.ipAddress.map { Loopback.contains($0) } ?? true
    }

    /// An address named by a proxy.
    package init(named text: String) {
        network = Self.network(try? SocketAddress(ipAddress: text, port: 0))
        isLocal = false
    }

    private static func network(_ address: SocketAddress?) -> UInt64 {
        (address?.networkBytes ?? []).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
