internal import NIOCore

/// Handles the events of one of a tunnel's two sockets.
final class TunnelEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let incoming: Lane
    private let outgoing: Lane
    private let received: (ByteBuffer) -> Void

    init(incoming: Lane, outgoing: Lane, received: @escaping (ByteBuffer) -> Void) {
        self.incoming = incoming
        self.outgoing = outgoing
        self.received = received
    }

    func channelActive(context: ChannelHandlerContext) {
        incoming.readMore()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received(unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        incoming.readMore()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        outgoing.pump()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { incoming.ended() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        incoming.sourceClosed()
        outgoing.targetClosed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
