// Which addresses only this machine can reach. Only these may be used without an admin token or with insecure
// authentication.

import NIOCore
package import RollcallProtocol

package enum Loopback {
    /// Whether listening on `host` is listening for this machine only. A name other than `localhost` might mean
    /// anything tomorrow, so it is not.
    package static func contains(_ host: String) -> Bool {
        if ByteString(host).isWord("localhost") { return true }
        // Its bytes, since an address can be written in several ways.
        guard let bytes = (try? SocketAddress(ipAddress: host, port: 0))?.networkBytes else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// Whether a request's `Host` is this machine. Another name means that a web page sent the request, using a name
    /// that was made to resolve to this machine (DNS rebinding).
    package static func contains(authority: ByteString) -> Bool {
        contains(host(of: authority).string)
    }

    /// Whether the `Origin` of a web page is this machine.
    package static func contains(origin: ByteString) -> Bool {
        host(ofOrigin: origin).map { contains($0.string) } ?? false
    }

    /// The host of an `Origin`, `SCHEME://HOST[:PORT]`; `nil` for any other text.
    package static func host(ofOrigin origin: ByteString) -> ByteString? {
        let parts = origin.parts(at: "/")
        guard parts.count == 3, parts[0].utf8.last == UInt8(ascii: ":"), parts[1].isEmpty else { return nil }
        return host(of: parts[2])
    }

    /// The host without its port, from `host:port`, `[::1]:port`, or a host alone.
    package static func host(of authority: ByteString) -> ByteString {
        guard authority.begins(with: "["), let (inside, rest) = authority.cut(atLast: "]") else {
            return authority.cut(at: ":")?.before ?? authority
        }
        // Only a port may follow: `[::1].example.com` is not an address.
        guard rest.isEmpty || rest.begins(with: ":") else { return authority }
        return ByteString(decoding: inside.utf8.dropFirst())
    }
}
