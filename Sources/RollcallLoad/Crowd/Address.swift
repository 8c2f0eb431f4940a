// The address of a worker. Its host name is looked up once, since devices connect by the thousand.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Crowd {
    /// The address of a worker, on this machine or another.
    package struct Address: Hashable, Sendable {
        let host: String
        /// The IPv4 address in network byte order.
        let number: UInt32
        let port: UInt16
        let path: String

        /// - Parameter host: an IPv4 address in dotted notation.
        package init(host: String = "127.0.0.1", port: Int) throws(LoadError) {
            var address = in_addr()
            guard inet_pton(AF_INET, host, &address) == 1, let port = UInt16(exactly: port) else {
                throw LoadError("\(host):\(port) is no address of IPv4 and a port")
            }
            (self.host, number, self.port, path) = (host, address.s_addr, port, "/v1/connect")
        }

        /// - Parameter url: for example `ws://127.0.0.1:8080/v1/connect`. A host name is looked up.
        package init(url: String) throws(LoadError) {
            guard let parts = url.wholeMatch(of: #/(wss?)://([^/:\[\]]+)(?::([0-9]+))?(/[!-~]*)?/#) else {
                throw LoadError("\(url) is no address of a worker, such as ws://127.0.0.1:8080/v1/connect")
            }
            guard parts.1 == "ws" else {
                throw LoadError("\(url): load speaks without TLS; name the workers themselves, with ws://")
            }
            guard let port = UInt16(parts.3 ?? "80") else { throw LoadError("\(url) has no port of TCP") }
            host = String(parts.2)
            number = try Self.lookUp(host)
            (self.port, path) = (port, String(parts.4 ?? "/v1/connect"))
        }

        /// Whether this is on the loopback interface, where connections can come from many addresses.
        var isLoopback: Bool { UInt32(bigEndian: number) >> 24 == 127 }

        private static func lookUp(_ host: String) throws(LoadError) -> UInt32 {
            var hints = addrinfo()
            hints.ai_family = AF_INET
            var found: UnsafeMutablePointer<addrinfo>?
            let result = getaddrinfo(host, nil, &hints, &found)
            defer { if let found { freeaddrinfo(found) } }
            guard result == 0, let address = found?.pointee.ai_addr else {
                throw LoadError("there is no host \(host): \(String(cString: gai_strerror(result)))")
            }
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr.s_addr }
        }
    }
}

extension Crowd.Address: CustomStringConvertible {
    package var description: String { "ws://\(host):\(port)\(path)" }
}
