// Which hosts count as workers of ours. Whoever can write to Redis can say that a worker stands anywhere.

internal import NIOCore
internal import RollcallModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The parts of an edge's address by which it is judged.
struct EdgeURL {
    let isEncrypted: Bool
    /// In small letters, and without the brackets of an IPv6 address.
    let host: String

    init?(_ url: String) {
        guard let parts = URLComponents(string: url), parts.scheme == "ws" || parts.scheme == "wss",
            let host = parts.host, !host.isEmpty
        else { return nil }
        isEncrypted = parts.scheme == "wss"
        self.host = Loopback.host(of: host.lowercased())
    }
}

/// To which hosts a worker may send its devices.
struct PeerPolicy {
    private let own: EdgeURL?
    private let patterns: [String]

    /// - Parameters:
    ///   - patterns: hosts, and `*.example.org` for all below a domain; none for what is near the own host.
    ///   - own: the worker's own address, as others are told it.
    init(_ patterns: [String], own: String) {
        self.patterns = patterns.map { $0.lowercased() }
        self.own = EdgeURL(own)
    }

    /// Whether a text can stand in `edge.peers`.
    static func isPattern(_ text: String) -> Bool {
        let host = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || ".:-_".utf8.contains(byte)
            }
    }

    func allows(_ url: String) -> Bool {
        guard let own, let other = EdgeURL(url), other.isEncrypted || !own.isEncrypted else { return false }
        guard patterns.isEmpty else { return patterns.contains { Self.matches(other.host, $0) } }
        return Self.place(of: other.host) == Self.place(of: own.host)
    }

    private static func matches(_ host: String, _ pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return host == pattern }
        return host.utf8.count >= pattern.utf8.count
            && host.utf8.suffix(pattern.utf8.count - 1).elementsEqual(pattern.utf8.dropFirst())
    }

    private enum Place: Hashable {
        /// This machine.
        case here
        /// An IPv4 network of 24 bits, or an IPv6 network of 64.
        case network([UInt8])
        /// What follows the first part of a name; the whole name if that would be no more than `org`.
        case domain(String)
        /// Names of one part mean something in a local network alone.
        case local
    }

    private static func place(of host: String) -> Place {
        if Loopback.contains(host) { return .here }
        if let bytes = (try? SocketAddress(ipAddress: host, port: 0))?.networkBytes {
            return .network(Array(bytes.prefix(bytes.count == 4 ? 3 : 8)))
        }
        let parts = host.parts(at: ".")
        switch parts.count {
        case 1: return .local
        case 2: return .domain(host)
        default: return .domain(parts.dropFirst().joined(separator: "."))
        }
    }
}
