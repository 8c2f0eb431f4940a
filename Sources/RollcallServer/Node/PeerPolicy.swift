// Decides which hosts are trusted as workers. Anyone who can write to Redis can register a worker at any address.

package import NIOCore
internal import RollcallProtocol

/// The parts of an edge's address that the policy checks.
struct EdgeURL {
    let isEncrypted: Bool
    /// In lower case, without the brackets of an IPv6 address.
    let host: String

    /// - Returns: `nil` for anything that clients might parse differently: user names, escapes, characters that are not
    ///   valid in host names, a trailing dot, or numbers that could be an address.
    init?(_ url: ByteString) {
        isEncrypted = url.begins(with: "wss://")
        guard isEncrypted || url.begins(with: "ws://") else { return nil }
        let rest = url.utf8.dropFirst(isEncrypted ? 6 : 5)
        let authority = String(Substring(rest.prefix { !"/?#".utf8.contains($0) })).lowercased()
        guard PeerPolicy.isOfHost(authority, and: "[]") else { return nil }
        host = Loopback.host(of: ByteString(authority)).string
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        guard isAddress || PeerPolicy.isName(host) else { return nil }
    }
}

/// The hosts to which a worker may send its devices.
package struct PeerPolicy {
    private let own: EdgeURL?
    private let patterns: [String]

    /// - Parameters:
    ///   - patterns: Hosts, and `*.example.org` for all hosts below a domain. If empty, the worker's own host and
    ///     others of its domain.
    ///   - own: The worker's own public address.
    init(_ patterns: [String], own: String) {
        self.patterns = patterns.map { $0.lowercased() }
        self.own = EdgeURL(ByteString(own))
    }

    /// Whether a text is valid in `edge.peers`.
    package static func isPattern(_ text: String) -> Bool {
        let host = (ByteString(text).begins(with: "*.") ? String(text.dropFirst(2)) : text).lowercased()
        return isName(host) || (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }

    /// Whether a text has only characters of hosts and ports, in lower case.
    fileprivate static func isOfHost(_ text: String, and others: String = "") -> Bool {
        text.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || ".:-_".utf8.contains(byte) || others.utf8.contains(byte)
        }
    }

    /// Whether a host is a name that cannot be read as an address in another notation, such as 134744072.
    fileprivate static func isName(_ host: String) -> Bool {
        let parts = ByteString(host).parts(at: ".")
        guard isOfHost(host), !host.utf8.contains(UInt8(ascii: ":")), !parts.contains(where: \.isEmpty) else {
            return false
        }
        return parts.last?.utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) } ?? false
    }

    func allows(_ url: ByteString) -> Bool {
        guard let own, let other = EdgeURL(url), other.isEncrypted || !own.isEncrypted else { return false }
        guard patterns.isEmpty else { return patterns.contains { Self.matches(other.host, $0) } }
        if ByteString(other.host) == ByteString(own.host) { return true }
        return Self.domain(of: other.host).map { $0 == Self.domain(of: own.host) } ?? false
    }

    private static func matches(_ host: String, _ pattern: String) -> Bool {
        guard ByteString(pattern).begins(with: "*.") else { return ByteString(host) == ByteString(pattern) }
        return host.utf8.count >= pattern.utf8.count
            && host.utf8.suffix(pattern.utf8.count - 1).elementsEqual(pattern.utf8.dropFirst())
    }

    /// The domain that the workers of one deployment share; `nil` if there is none, or strangers may register names below
    /// it, as in `org` and `co.uk`.
    private static func domain(of host: String) -> ByteString? {
        let labels = ByteString(host).parts(at: ".")
        guard isName(host), labels.count > 3 || labels.count == 3 && labels[1].utf8.count > 3 else { return nil }
        return ByteString(labels.dropFirst().map(\.string).joined(separator: "."))
    }
}

extension SocketAddress {
    /// The IP address in network byte order; `nil` if there is none. IPv4-mapped IPv6 addresses (`::ffff:1.2.3.4`),
    /// which a listener on `::` receives, count as IPv4.
    package var networkBytes: [UInt8]? {
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
