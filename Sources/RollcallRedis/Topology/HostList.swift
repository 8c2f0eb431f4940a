// Several hosts in one URL, separated by commas. No reader of URLs knows them; so all but the first are taken out, and read
// as URLs of their own, by the same rules.

import RollcallModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A URL with one host, and the hosts that stood beside it.
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

    /// All hosts.
    ///
    /// - Parameters:
    ///   - first: the URL with the first of them, taken apart.
    ///   - port: the one where none is given.
    func addresses(first: URLComponents, port: Int) throws(InvalidRedisURL) -> [RedisLocation.Address] {
        var addresses = [try RedisLocation.Address(of: first, port: port)]
        for other in others {
            guard let parts = URLComponents(string: "redis://\(other)", encodingInvalidCharacters: false),
                parts.user == nil, parts.path.isEmpty, parts.query == nil
            else {
                // What stands there may be the rest of a password with a comma in it.
                throw InvalidRedisURL("between the commas stands what is no host[:port] (a , in a password is %2C)")
            }
            let address = try RedisLocation.Address(of: parts, port: port)
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }
}
