// A client's WebSocket: the only handler in its channel's pipeline, and all its state in the edge. It is small, because
// a worker holds very many idle ones.

import NIOCore
import RollcallCore
import RollcallListener
import RollcallModel
import RollcallShards

/// A WebSocket connection. Use on its event loop only.
final class EdgeConnection: RotaMember {
    /// How a connection ended.
    enum Ending: Hashable {
        /// Without a close frame from either side: network failure, crash or silence.
        case lost
        /// The peer closed, with this code or none.
        case peer(CloseCode?)
        /// This worker closed: ``EdgeConnection/close(_:reason:)``, a protocol violation, or a peer that reads too
        /// slowly.
        case here(CloseCode)
    }

    /// Its session, from ``begin()`` to ``bow()``.
    var session: Session?
    /// When the last byte arrived.
    private(set) var lastByte: NIODeadline
    /// Set when the connection starts to end; later causes do not change it.
    private(set) var ending: Ending?

    var place: RotaPlace?
    let loop: EdgeLoop
    /// The client's address, as far as known.
    let address: ClientAddress
    /// Whether it has a session's seat: its token was accepted, and it is not closing.
    private(set) var isSeated = false
    private(set) var context: ChannelHandlerContext?
    var phase = Phase.open
    /// Whether it is on the loop's list of connections to flush.
    var awaitsFlush = false
    /// Whether the loop watches its waiting bytes.
    var isWatched = false
    /// Whether the shard was notified that the connection is backed up, and not yet that it has drained.
    var isBehind = false
    /// Whether the shard asked for a notification when the data sent has left.
    var awaitsDrain = false
    /// The data written in this tick.
    var parcel: Parcel?
    /// The socket's descriptor, while writes may bypass NIO.
    private(set) var socket: NIOBSDSocket.Handle?
    /// Whether NIO may hold bytes that the kernel has not accepted: at first, the handshake response.
    var hasQueued = true
    /// Bytes skipped while the connection was behind.
    var sparedBytes = 0
    /// Whether our side of the stream has ended.
    var isHalfClosed = false
    /// Whether the shard knows of the connection, and of its end.
    private var isIntroduced = false
    /// Whether the shard accepts only messages that were already received, and whether reading is paused for that.
    var isHeld = false
    var isPaused = false
    /// Pings since the last byte arrived.
    var unanswered: UInt8 = 0
    var allowance = FrameAllowance()
    var decoder: WebSocketDecoder
    /// The received part of an incomplete message; almost always `nil`.
    private(set) var partial: ByteBuffer?
    /// The maximum number of waiting bytes that do not count against the limit.
    var exempt = 0
    /// The size of the largest frame since the connection was last not backed up.
    var largestFrame = 0

    init(on loop: EdgeLoop, from address: ClientAddress) {
        self.loop = loop
        self.address = address
        lastByte = loop.eventLoop.now
        decoder = WebSocketDecoder(limit: min(EdgeSettings.helloBytes, loop.settings.messageBytes))
    }

    /// Notifies the shard of the new connection, which is in the pipeline by now.
    func begin() {
        isIntroduced = true
        loop.shard.connected(self)
    }

    /// Records why the connection ends, unless a cause is recorded already.
    func note(_ cause: Ending) {
        ending = ending ?? cause
    }

    /// Takes one of the worker's seats, for a session whose token was accepted.
    ///
    /// - Returns: `false` if all are taken, or if the connection is closing.
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

    func leaveSeat() {
        guard isSeated else { return }
        isSeated = false
        loop.sessions.release()
    }

    /// Notifies the shard of the end, once.
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

    /// Keeps the received part of a message in a buffer of its size, because the loop's buffer is as large as the
    /// largest message of any connection. A closing connection keeps nothing.
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
