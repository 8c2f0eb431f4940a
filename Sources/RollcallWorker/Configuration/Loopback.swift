// Which addresses only this machine reaches. What is allowed on them alone: no admin token, insecure authentication.

import NIOCore

package enum Loopback {
    /// Whether listening on `host` is listening for this machine only. A name other than `localhost` might mean
    /// anything tomorrow, so it is not.
    static func contains(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // Read as an address and written again, each address has one form only.
        guard let address = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress else { return false }
        return address.hasPrefix("127.") || address == "::1"
    }

    /// Whether a request's `Host` is this machine's own. One of another name came by way of a web page, whose name was
    /// made to mean this machine (DNS rebinding).
    package static func contains(authority: String) -> Bool {
        contains(host(of: authority))
    }

    /// Whether a web page is of this machine, by its `Origin`.
    static func contains(origin: String) -> Bool {
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].hasSuffix(":") && parts[1].isEmpty && contains(authority: String(parts[2]))
    }

    /// The host without its port, of `host:port`, `[::1]:port` or either alone.
    static func host(of authority: some StringProtocol) -> String {
        if authority.first == "[", let end = authority.lastIndex(of: "]") {
            let rest = authority[authority.index(after: end)...]
            // Nothing but a port may follow: `[::1].example.com` is no address.
            guard rest.isEmpty || rest.first == ":" else { return String(authority) }
            return String(authority[..<end].dropFirst())
        }
        return String(authority.prefix { $0 != ":" })
    }
}
