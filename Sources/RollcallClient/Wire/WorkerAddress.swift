// The address of a worker, parsed from a URL that the app or another worker provided.

import Foundation

/// The parts of a `ws://` or `wss://` URL that a connection needs.
package struct WorkerAddress: Hashable {
    let isSecure: Bool
    /// The host, without the brackets of an IPv6 address.
    package let host: String
    let port: Int
    /// Path and query, as in the request line. The default is `/v1/connect`.
    let target: String

    init?(_ text: String) {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "ws" || scheme == "wss", let named = url.host, !named.isEmpty,
            url.user == nil, url.password == nil, url.fragment == nil
        else { return nil }
        isSecure = scheme == "wss"
        host = named.hasPrefix("[") && named.hasSuffix("]") ? String(named.dropFirst().dropLast()) : named
        port = url.port ?? (isSecure ? 443 : 80)
        guard (1...65535).contains(port) else { return nil }
        let path = url.percentEncodedPath.isEmpty ? "/v1/connect" : url.percentEncodedPath
        target = path + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
    }

    /// A placeholder for a worker that is reached without an address.
    static let here = WorkerAddress(isSecure: true, host: "localhost", port: 443, target: "/")

    private init(isSecure: Bool, host: String, port: Int, target: String) {
        (self.isSecure, self.host, self.port, self.target) = (isSecure, host, port, target)
    }

    /// The whole URL.
    var url: String { (isSecure ? "wss://" : "ws://") + authority + target }

    /// The value of the `Host` header.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Whether a client of `home` may follow a redirect to this address. A redirect from an encrypted connection to an
    /// unencrypted one is refused, since the token goes along.
    func isTrusted(by home: WorkerAddress) -> Bool {
        isSecure || !home.isSecure
    }

    /// Whether nobody on the network can read the traffic: it is encrypted, or does not leave this machine.
    var isPrivate: Bool { isSecure || isLoopback }

    /// Whether it is this machine, which is reached without a network. Of names, only `localhost` counts: others may resolve to anything.
    var isLoopback: Bool {
        if host.lowercased().utf8.elementsEqual("localhost".utf8) { return true }
        var address = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host, &address) == 1 { return address[0] == 127 }
        return inet_pton(AF_INET6, host, &address) == 1 && address.dropLast().allSatisfy { $0 == 0 } && address[15] == 1
    }

    /// - Parameter pattern: a host, or `*.` and a domain for all hosts in that domain.
    func isAt(_ pattern: String) -> Bool {
        let (host, pattern) = (host.lowercased().utf8, pattern.lowercased().utf8)
        guard pattern.starts(with: "*.".utf8) else { return host.elementsEqual(pattern) }
        let domain = pattern.dropFirst()
        return host.count > domain.count && host.suffix(domain.count).elementsEqual(domain)
    }
}
