// Ending a connection without a word. Under TLS an ordinary close says goodbye first and waits for the peer's: right for
// one that still answers, and a second wasted on one that is given up.

import NIOCore
import NIOSSL

extension ChannelHandlerContext {
    /// Closes the socket at once, past TLS if there is any.
    func closeSocket() {
        guard let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) else {
            return close(promise: nil)
        }
        tls.close(promise: nil)
    }
}

extension Channel {
    /// Closes the socket at once, past TLS if there is any. From any thread.
    func closeSocket() {
        guard eventLoop.inEventLoop else { return eventLoop.execute { self.closeSocket() } }
        guard let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) else {
            return close(promise: nil)
        }
        tls.close(promise: nil)
    }
}
