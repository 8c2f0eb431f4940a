// The addresses on which a port listens: all those of the configured host.

package import NIOCore
import NIOSSL
import RollcallProtocol
import RollcallRedis

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

package enum Listening {
    /// Listens on every address of a host, on the same port. An address that this machine does not have, such as `::1`
    /// without IPv6, is left out if there is another.
    ///
    /// - Parameter listen: listens on an address, and returns it with the port that was picked if the port is 0.
    /// - Returns: the first address.
    /// - Throws: ``NameLookupFailure``; the errors of `listen`.
    package static func onEach(
        of host: String, port: Int, on loop: any EventLoop, _ listen: (SocketAddress) async throws -> SocketAddress
    ) async throws -> SocketAddress {
        // Both families, whatever this machine's hosts file has (RFC 6761 §6.3).
        let found =
            ByteString(host).isWord("localhost")
            ? try ["127.0.0.1", "::1"].map { try SocketAddress(ipAddress: $0, port: port) }
            : try await NameLookups.addresses(of: host, port: port, within: .seconds(10), on: loop).get()
        var (first, absent): (SocketAddress?, (any Error)?)
        for (index, address) in found.enumerated() where found.firstIndex(of: address) == index {
            var address = address
            if let first { address.port = first.port }
            do {
                let bound = try await listen(address)
                first = first ?? bound
            } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode) {
                absent = error
            }
        }
        guard let first else { throw absent ?? NameLookupFailure(name: host, reason: "it has no address") }
        return first
    }
}

// MARK: Sockets

// Closes a connection without TLS's closing handshake. That handshake waits for the peer, which wastes a second if the
// peer is no longer reachable.

extension ChannelHandlerContext {
    /// Closes the socket at once, bypassing TLS.
    package func closeSocket() {
        guard let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) else {
            return close(promise: nil)
        }
        tls.close(promise: nil)
    }
}

extension Channel {
    /// Closes the socket at once, bypassing TLS. Call it from any thread.
    package func closeSocket() {
        guard eventLoop.inEventLoop else { return eventLoop.execute { self.closeSocket() } }
        guard let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) else {
            return close(promise: nil)
        }
        tls.close(promise: nil)
    }
}
