// One HTTP request and its answer, on a connection of their own.

import NIOCore
import NIOHTTP1

/// Sends a request once the connection is established, and collects the answer.
final class HTTPExchange: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    struct Answer {
        var status: HTTPResponseStatus
        var body = ByteBuffer()
    }

    /// The connection ended before the answer was complete, or no answer arrived in time.
    struct NoAnswer: Error {}

    private let head: HTTPRequestHead
    private let promise: EventLoopPromise<Answer>
    private var answer: Answer?

    init(_ head: HTTPRequestHead, _ promise: EventLoopPromise<Answer>) {
        self.head = head
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): answer = Answer(status: head.status)
        case .body(var bytes): answer?.body.writeBuffer(&bytes)
        case .end: if let answer { promise.succeed(answer) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(NoAnswer())
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error is HTTPParserError ? NoAnswer() : error)
        context.close(promise: nil)
    }
}
