// Which addresses only this machine can reach. Only these may be used without an admin token or with insecure
// authentication.

import NIOCore

package enum Loopback {
    /// Whether listening on `host` is listening for this machine only. A name other than `localhost` might mean
    /// anything tomorrow, so it is not.
    package static func contains(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // Its bytes, since an address can be written in several ways.
        guard let bytes = (try? SocketAddress(ipAddress: host, port: 0))?.networkBytes else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether a request's `Host` is this machine. Another name means that a web page sent the request, using a name
    /// that was made to resolve to this machine (DNS rebinding).
    package static func contains(authority: String) -> Bool {
        contains(host(of: authority))
    }

    /// Whether the `Origin` of a web page is this machine.
    package static func contains(origin: String) -> Bool {
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].hasSuffix(":") && parts[1].isEmpty && contains(authority: String(parts[2]))
    }

    /// The host without its port, from `host:port`, `[::1]:port`, or a host alone.
    package static func host(of authority: some StringProtocol) -> String {
        if authority.first == "[", let end = authority.lastIndex(of: "]") {
            let rest = authority[authority.index(after: end)...]
            // Only a port may follow: `[::1].example.com` is not an address.
            guard rest.isEmpty || rest.first == ":" else { return String(authority) }
            return String(authority[..<end].dropFirst())
        }
        return String(authority.prefix { $0 != ":" })
    }
}
