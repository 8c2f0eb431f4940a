// Which addresses only this machine reaches. What is allowed on them alone: no admin token, insecure authentication.

import NIOCore

enum Loopback {
    /// Whether listening on `host` is listening for this machine only. A name other than `localhost` might mean
    /// anything tomorrow, so it is not.
    static func contains(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        // Read as an address and written again, each address has one form only.
        guard let address = (try? SocketAddress(ipAddress: host, port: 0))?.ipAddress else { return false }
        return address.hasPrefix("127.") || address == "::1"
    }
}
