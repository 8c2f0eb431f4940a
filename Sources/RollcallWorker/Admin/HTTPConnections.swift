// How this package's servers take the connections that the HTTP library accepts.

package import HummingbirdCore
package import Logging
package import NIOCore
import NIOSSL
import Synchronization

/// HTTP/1.1, over TLS with the certificate of the moment if there is one. With the library's own channel, a connection that was
/// accepted and is never served, such as one that came while the server ended, would end the process.
package struct HTTPConnections: ServerChildChannel {
    private let base: HTTP1Channel
    private let certificate: CertificateKeeper?

    /// For a server without TLS that limits no connection.
    package static let server = HTTPServerBuilder { HTTPConnections(HTTP1Channel(responder: $0)) }

    package init(_ base: HTTP1Channel, certificate: CertificateKeeper? = nil) {
        (self.base, self.certificate) = (base, certificate)
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTPConnection> {
        guard let certificate else { return base.setup(channel: channel, logger: logger).map(HTTPConnection.init) }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
        }.flatMap { base.setup(channel: channel, logger: logger).map(HTTPConnection.init) }
    }

    package func handle(value: HTTPConnection, logger: Logger) async {
        await base.handle(value: value.take(), logger: logger)
    }
}

/// One accepted connection, which has to be served or closed.
package final class HTTPConnection: ServerChildChannelValue {
    private let accepted: HTTP1Channel.Value
    private let isTaken = Atomic(false)

    fileprivate init(_ accepted: HTTP1Channel.Value) { self.accepted = accepted }

    package var channel: any Channel { accepted.channel }

    fileprivate func take() -> HTTP1Channel.Value {
        isTaken.store(true, ordering: .relaxed)
        return accepted
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        Task { [accepted] in try? await accepted.executeThenClose { _, _ in } }
    }
}
