// Closes a connection without TLS's closing handshake. That handshake waits for the peer, which wastes a second if the
// peer is no longer reachable.

package import NIOCore
import NIOSSL

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
