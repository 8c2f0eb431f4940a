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

    /// Whether a request's `Host`, with or without a port, is this machine's own. One of another name came by way of a web
    /// page, whose name was made to mean this machine (DNS rebinding).
    package static func contains(authority: String) -> Bool {
        let port = authority.reversed().prefix { $0.isWholeNumber }.count
        let hasPort = authority.dropLast(port).last == ":" && !authority.hasSuffix("]")
        let host = hasPort ? authority.dropLast(port + 1) : authority[...]
        return contains(host.first == "[" && host.last == "]" ? String(host.dropFirst().dropLast()) : String(host))
    }
}
