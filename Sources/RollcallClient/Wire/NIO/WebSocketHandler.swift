// The last handler of a client's channel. It reads and writes whole frames, and answers pings and close frames itself.

#if NIO && !canImport(Security)
    import NIOCore
    import NIOWebSocket

    /// Reads and writes the frames of one WebSocket.
    final class WebSocketHandler: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame
        typealias Bound = NIOLoopBound<WebSocketHandler>

        private var wire: WebSocketWire?
        private var context: ChannelHandlerContext?
        private var closeSent = false

        init(wire: WebSocketWire) {
            self.wire = wire
        }

        func handlerAdded(context: ChannelHandlerContext) {
            self.context = context
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            self.context = nil
            wire = nil
        }

        func send(_ json: [UInt8]) {
            guard let context, !closeSent else { return }
            write(.text, context.channel.allocator.buffer(bytes: json))
        }

        func flush() {
            context?.flush()
        }

        /// Sends a close frame. The channel ends with the server's answer, or when the caller's time limit passes.
        func closeOrderly() {
            sendClose(.normal)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            wire?.heard()
            switch frame.opcode {
            case .text:
                wire?.received(frame.unmaskedData)
            case .ping:
                write(.pong, frame.unmaskedData)
                flush()
            case .connectionClose:
                closeReceived(frame.unmaskedData, context: context)
            case .pong, .binary, .continuation:
                break  // An answer to nothing, or what no worker says: it does no harm.
            default:
                errorCaught(context: context, error: ReservedOpcode())
            }
        }

        /// A frame with an opcode that RFC 6455 reserves. The RFC requires that the connection then fails.
        struct ReservedOpcode: Error {}

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            sendClose(.protocolError)
            wire?.ended(.lost(error))
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            wire?.ended(.lost(nil))
            context.fireChannelInactive()
        }

        private func closeReceived(_ data: ByteBuffer, context: ChannelHandlerContext) {
            let code = data.getInteger(at: data.readerIndex, as: UInt16.self).map(CloseCode.init)
            sendClose(code ?? .normal)
            context.channel.flush()
            let sentence = ByteString(decoding: data.readableBytesView.dropFirst(2)).string
            wire?.ended(code.map { .closed($0, because: sentence) } ?? .lost(nil))
            context.close(promise: nil)
        }

        private func sendClose(_ code: CloseCode) {
            guard let context, !closeSent else { return }
            write(.connectionClose, context.channel.allocator.buffer(integer: code.rawValue))
            closeSent = true
            flush()
        }

        /// Writes a masked frame, as RFC 6455, 5.3 requires of clients.
        private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
            let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
            context?.write(wrapOutboundOut(frame), promise: nil)
        }
    }
#endif
