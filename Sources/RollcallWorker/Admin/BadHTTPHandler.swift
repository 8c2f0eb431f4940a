// The answer to what is no HTTP. The library's is a bare 400; here it is a problem like every other.

import NIOCore
import NIOHTTP1

/// Gives a refusal without a body the body that says what is wrong.
///
/// The library puts it behind its own types; in front of them, where the wire's are, it takes its place itself.
final class BadHTTPHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Adds the handler where it belongs, and what watches over the connection.
    final class Entry: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = NIOAny

        private let connections: AdminConnections

        init(_ connections: AdminConnections) {
            self.connections = connections
        }

        func handlerAdded(context: ChannelHandlerContext) {
            let pipeline = context.pipeline.syncOperations
            guard let encoder = try? pipeline.handler(type: HTTPResponseEncoder.self) else { return }
            try? pipeline.addHandler(BadHTTPHandler(), position: .after(encoder))
            _ = try? AdminConnection(context.channel, among: connections)
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
