// The wire's end of the admin port: TLS, and the answer to what is no HTTP. The library's is a bare 400; here it is a problem like every other.

import NIOCore
import NIOHTTP1
import NIOSSL

/// Gives a refusal without a body the body that says what is wrong.
///
/// The library puts it behind its own types; in front of them, where the wire's are, it takes its place itself.
final class BadHTTPHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Adds the handler where it belongs, what watches over the connection, and TLS in front of all.
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
                // A connection that should be encrypted and cannot be is no connection.
                context.close(promise: nil)
            }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        guard case .head(var head) = part, head.status == .badRequest, !head.headers.contains(name: "content-type")
        else { return context.write(data, promise: promise) }
        let problem = AdminProblem(.badRequest, "this is no HTTP/1.1 that can be read, or its headers are too large")
        head.headers.replaceOrAdd(name: "content-type", value: AdminProblem.mediaType)
        head.headers.replaceOrAdd(name: "content-length", value: "\(problem.bytes.readableBytes)")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(problem.bytes))), promise: promise)
    }
}
