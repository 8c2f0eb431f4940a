// Several hosts in one URL, separated by commas. URL parsers do not support this, so all but the first are removed and
// parsed as separate URLs, by the same rules.

import RollcallModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A URL with one host, and the other hosts it contained.
struct HostList {
    let url: String
    let others: [String]

    init(of url: String) {
        let start = url.firstBytes(of: "://")?.upperBound ?? url.endIndex
        let end = url.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? url.endIndex
        let first = url.utf8[start..<end].lastIndex(of: UInt8(ascii: "@")).map { url.utf8.index(after: $0) } ?? start
        let hosts = url[first..<end].parts(at: ",")
        self.url = String(url[..<first]) + (hosts.first ?? "") + url[end...]
        others = Array(hosts.dropFirst())
    }

    /// Returns all hosts.
    ///
    /// - Parameters:
    ///   - first: the parsed URL with the first host.
    ///   - port: the default port.
    func addresses(first: URLComponents, port: Int) throws(InvalidRedisURL) -> [RedisLocation.Address] {
        var addresses = [try RedisLocation.Address(of: first, port: port)]
        for other in others {
            guard let parts = URLComponents(string: "redis://\(other)", encodingInvalidCharacters: false),
                parts.user == nil, parts.path.isEmpty, parts.query == nil
            else {
                // This may be the rest of a password that contains a comma.
                throw InvalidRedisURL("between the commas stands what is no host[:port] (a , in a password is %2C)")
            }
            let address = try RedisLocation.Address(of: parts, port: port)
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}
