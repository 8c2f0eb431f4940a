// One client's WebSocket: the only handler in its channel's pipeline, and everything that the edge knows of it. It is
// small, since a worker holds very many that say nothing.

import NIOCore
import RollcallModel

/// A WebSocket. Belongs to its event loop.
final class EdgeConnection: RotaMember {
    /// How a connection came to its end.
    enum Ending: Hashable {
        /// Without a close frame from either side: by a network, a crash, or silence.
        case lost
        /// The peer closed, with this code or none.
        case peer(CloseCode?)
        /// This worker closed: ``EdgeConnection/close(_:reason:)``, a broken rule, or a reader too slow.
        case here(CloseCode)
    }

    /// The shard's own: where it keeps the session.
    var slot: Int32 = -1
    /// When the last byte came.
    private(set) var lastByte: NIODeadline
    /// Set once the connection is ending; later causes do not change it.
    private(set) var ending: Ending?

    var place: RotaPlace?
    let loop: EdgeLoop
    private(set) var context: ChannelHandlerContext?
    var phase = Phase.open
    /// Whether the loop has it on its list of connections to flush.
    var awaitsFlush = false
    /// Whether the loop watches what waits for it.
    var isWatched = false
    /// Whether the shard was told that the connection is backed up, and not yet that it has drained.
    var isBehind = false
    /// Whether the shard asked to be told when what was sent has left.
    var awaitsDrain = false
    /// What this tick has written.
    var parcel: Parcel?
    /// The kernel's name for the connection, while bytes may go to it past NIO.
    private(set) var socket: NIOBSDSocket.Handle?
    /// Whether NIO may hold bytes that the kernel has not taken: at first, those of the handshake's answer.
    var hasQueued = true
    /// What was not sent while the connection was behind, in bytes.
    var sparedBytes = 0
    /// Whether our side of the stream has ended.
    var isHalfClosed = false
    /// Whether the shard has been told of the connection, and of its end.
    private var isIntroduced = false
    /// Whether the shard asked to be told no more than has come already, and whether for that nothing is read.
    var isHeld = false
    var isPaused = false
    /// Pings since the last byte came.
    var unanswered: UInt8 = 0
    var pongs = PongAllowance()
    var decoder: WebSocketDecoder
    /// The fragments of a message whose rest is to come; nil for almost everybody almost always.
    private var partial: ByteBuffer?
    /// At most so many of the waiting bytes are of frames that do not count.
    var exempt = 0

    init(on loop: EdgeLoop) {
        self.loop = loop
        lastByte = loop.eventLoop.now
        decoder = WebSocketDecoder(limit: loop.settings.messageBytes)
    }

    /// Tells the shard of the new connection, which stands in its pipeline by now.
    func begin() {
        isIntroduced = true
        loop.shard.connected(self)
    }

    /// Notes why the connection ends, unless a cause is known.
    func note(_ cause: Ending) {
        ending = ending ?? cause
    }

    /// Tells the shard of the end, once.
    func bow() {
        guard isIntroduced else { return }
        isIntroduced = false
        note(.lost)
        loop.tally.ended(ending ?? .lost)
        loop.shard.disconnected(self)
    }
}

extension EdgeConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        socket = findSocket(context)
        loop.joined(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        self.context = nil
        loop.left(self)
        loop.sessions.release()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        note(.lost)
        context.closeSocket()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if phase == .open && context.channel.isWritable { drain() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastByte = loop.eventLoop.now
        unanswered = 0
        let wasHeld = isHeld
        var input = unwrapInboundIn(data)
        loop.tally.receivedBytes += input.readableBytes
        var message = partial ?? loop.lendScratch()
        partial = nil
        receive(&input, message: &message)
        if decoder.isIdle {
            loop.returnScratch(message)
        } else {
            partial = message
        }
        loop.returnReceiver(input)
        if wasHeld && isHeld { pause() }
    }

    private func end() {
        phase = .over
        (socket, parcel) = (nil, nil)
        bow()
    }
}
