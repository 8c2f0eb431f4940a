import NIOCore

/// Connects a channel to its link.
final class LinkHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let link: Link
    private var context: ChannelHandlerContext?
    private var error: (any Error)?
    /// Whether any data was received.
    private(set) var heardAnything = false

    init(_ link: Link) {
        self.link = link
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) { link.opened(self) }
    func channelInactive(context: ChannelHandlerContext) { link.ended(self, error) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        heardAnything = true
        link.received(unwrapInboundIn(data), from: self)
    }

    func channelReadComplete(context: ChannelHandlerContext) { link.readCompleted() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = error
        context.close(promise: nil)
    }

    func send(_ bytes: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    func close() -> EventLoopFuture<Void> {
        guard let context else { return link.eventLoop.makeSucceededVoidFuture() }
        context.close(promise: nil)
        return context.channel.closeFuture
    }
}
