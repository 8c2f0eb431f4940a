// Socket-side handlers of the admin port: TLS, and the response to bytes that are not HTTP. The library answers these
// with an empty 400; here they get problem details like every other error.

import NIOCore
import NIOHTTP1
import NIOSSL
import RollcallListener

/// Adds problem details to a refusal without a body.
///
/// The library installs this behind its own types. The handler moves itself in front of them, next to the socket.
final class BadHTTPHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Adds the handler at its position, the time limits of the connection, and TLS in front of all.
    final class Entry: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        private let connections: AdminConnections
        private let certificate: CertificateKeeper?

        init(_ connections: AdminConnections, _ certificate: CertificateKeeper?) {
            self.connections = connections
            self.certificate = certificate
        }

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            do {
                let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
                try pipeline.addHandler(BadHTTPHandler(), position: .after(encoder))
                _ = try AdminConnection(context.channel, among: connections)
                guard let certificate else { return }
                try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context), position: .first)
            } catch {
                // A connection that should be encrypted but cannot be is closed.
                context.close(promise: nil)
            }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        guard case .head(var head) = part, head.status == .badRequest, !head.headers.contains(name: "content-type")
        else { return context.write(data, promise: promise) }
        let problem = AdminProblem(.badRequest, "the request is not valid HTTP/1.1, or its headers are too large")
        head.headers.replaceOrAdd(name: "content-type", value: AdminProblem.mediaType)
        head.headers.replaceOrAdd(name: "content-length", value: "\(problem.bytes.readableBytes)")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(problem.bytes))), promise: promise)
    }
}
