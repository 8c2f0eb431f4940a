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
    /// Whose it is, as far as the network knows.
    let address: ClientAddress
    /// Whether it is a session's: its token was found good, and it has not begun to close.
    private(set) var isSeated = false
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
    var allowance = FrameAllowance()
    var decoder: WebSocketDecoder
    /// What has come of a message whose rest is to come; nil for almost all connections almost always.
    private(set) var partial: ByteBuffer?
    /// At most so many of the waiting bytes are of frames that do not count.
    var exempt = 0

    init(on loop: EdgeLoop, from address: ClientAddress) {
        self.loop = loop
        self.address = address
        lastByte = loop.eventLoop.now
        decoder = WebSocketDecoder(limit: min(EdgeSettings.helloBytes, loop.settings.messageBytes))
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

    /// Takes one of the worker's seats, for a session whose token was found good.
    ///
    /// - Returns: false if all are taken, or the connection ends.
    func takeSeat() -> Bool {
        guard !isSeated else { return true }
        guard phase == .open else { return false }
        guard loop.sessions.take() else {
            loop.limitHit(.sessions)
            return false
        }
        isSeated = true
        decoder.limit = loop.settings.messageBytes
        return true
    }

    private func leaveSeat() {
        guard isSeated else { return }
        isSeated = false
        loop.sessions.release()
    }

    /// Tells the shard of the end, once.
    func bow() {
        leaveSeat()
        guard isIntroduced else { return }
        isIntroduced = false
        loop.addresses?.release(address)
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
        put(away: message)
        loop.returnReceiver(input)
        if wasHeld && isHeld { pause() }
    }

    /// Keeps what has come of a message, and no more memory than that takes: the loop's buffer is as large as the largest
    /// message that any connection has sent. Of a connection that ends nothing is kept.
    private func put(away message: ByteBuffer) {
        let count = message.readableBytes
        guard phase == .open, decoder.isWithinMessage, count > 0 else { return loop.returnScratch(message) }
        guard message.storageCapacity >= 2 * max(count, 16) else {
            partial = message
            return
        }
        partial = ByteBuffer(bytes: message.readableBytesView)
        loop.returnScratch(message)
    }

    private func end() {
        phase = .over
        (socket, parcel) = (nil, nil)
        bow()
    }
}
