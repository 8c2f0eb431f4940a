// A client's WebSocket: the only handler in its channel's pipeline, and all its state in the edge. It is small, because
// a worker holds very many idle ones.

import Logging
import NIOCore
import RollcallCore
import RollcallProtocol

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

// MARK: Receiving

extension EdgeConnection {
    /// Decodes input frame by frame, until the connection stops receiving.
    func receive(_ input: inout ByteBuffer, message: inout ByteBuffer) {
        do throws(WebSocketViolation) {
            while phase.listens, let event = try decoder.next(&input, message: &message) {
                loop.tally.receivedFrames += 1
                switch event {
                case .text:
                    if phase == .open { loop.shard.received(message, on: self) }
                case .fragment:
                    takeIncomplete()
                case .ping(let payload):
                    guard takeIncomplete(), phase == .open, allowance.answersPing else { break }
                    send(.pong(payload))
                case .pong:
                    takeIncomplete()  // It has counted as life when its bytes came.
                case .close(let code):
                    peerClosed(code)
                }
            }
        } catch {
            loop.logger.debug("a peer broke the WebSocket protocol", metadata: ["reason": "\(error.reason)"])
            fail(error)
        }
    }

    /// The shard is not accepting messages now. Data that was already read still goes to it, and a little more, because
    /// usually it accepts again before more arrives. Behind a hello, this is at most the start of one message.
    func hold() {
        isHeld = true
        decoder.limit = loop.settings.messageBytes
    }

    func listen() {
        isHeld = false
        shareBuffer()
        guard isPaused else { return }
        isPaused = false
        read(automatically: true)
    }

    /// From now on reads large pieces into the loop's buffer. Not under TLS, which keeps its input until it is
    /// decrypted.
    private func shareBuffer() {
        guard !loop.isEncrypted, let options = context?.channel.syncOptions, phase != .over else { return }
        let buffer = SharedBuffer(loop: NIOLoopBound(loop, eventLoop: loop.eventLoop))
        try? options.setOption(.recvAllocator, value: buffer)
    }

    /// Stops reading. The kernel's buffer fills, and then the peer can send no more.
    func pause() {
        isPaused = true
        read(automatically: false)
    }

    private func read(automatically isAutomatic: Bool) {
        guard let options = context?.channel.syncOptions, phase != .over else { return }
        try? options.setOption(.autoRead, value: isAutomatic)
    }

    /// Counts a frame that completes no message.
    ///
    /// - Returns: Whether the connection may continue; otherwise it is closed.
    @discardableResult
    private func takeIncomplete() -> Bool {
        guard !allowance.take(at: loop.clock.awake) else { return true }
        closeAsFlooding()
        return false
    }
}

// MARK: Sending

// Output to a peer. Frames are encoded in advance and collected until `flush()`, once per tick. NIO holds what the
// kernel does not accept, and knows its size.

extension EdgeConnection {
    /// Sends a frame that is encoded once for all receivers. It is dropped if the connection is closing.
    ///
    /// - Parameter counting: Whether the bytes count against `limits.outbound_bytes`. Snapshots do not count: the shard
    ///   sends the next part only when the previous one has drained; see ``tellWhenDrained()``.
    /// - Returns: `false` if it was dropped.
    @discardableResult
    func send(_ frame: ServerFrame, counting: Bool = true) -> Bool {
        guard phase == .open, context != nil else { return false }
        if !counting || exempt > 0 {
            exempt = min(exempt, outboundBytes) + (counting ? 0 : frame.count)
        }
        write(frame)
        loop.flushSoon(self)
        return true
    }

    /// Appends a frame to this tick's data.
    func write(_ frame: ServerFrame) {
        loop.tally.sentFrames += 1
        loop.tally.sentBytes += frame.count
        largestFrame = max(largestFrame, frame.count)
        parcel = loop.parcel(parcel, adding: frame)
    }

    /// Counts a frame that is not sent because the peer is behind and will receive a newer state. The skipped bytes
    /// show how slow a peer is.
    func spare(_ frame: ServerFrame) {
        if isBehind { sparedBytes += frame.count }
    }

    /// Notifies the shard when the data sent has left, at the earliest at the end of this tick.
    func tellWhenDrained() {
        guard phase == .open else { return }
        awaitsDrain = true
        loop.flushSoon(self)
    }

    /// Sends a ping, or gives up after two pings without any input. Not while receiving is paused.
    func ping() {
        guard phase == .open, !isPaused else { return }
        guard unanswered < 2 else { return abort() }
        unanswered += 1
        send(.ping)
    }

    /// Bytes that the kernel has not accepted yet.
    var outboundBytes: Int {
        phase == .over ? 0 : queuedBytes + (parcel?.count ?? 0)
    }

    /// The part of these bytes that NIO holds.
    var queuedBytes: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// The part of ``outboundBytes`` that counts, plus the bytes skipped since the peer fell behind. Which waiting
    /// bytes are exempt is not tracked; they are assumed to leave last, which favors the peer.
    var countedBytes: Int {
        let waiting = outboundBytes
        return waiting - min(exempt, waiting) + sparedBytes
    }

    /// Whether the waiting bytes have passed the high-water mark, and not yet fallen below the low one. If NIO holds
    /// nothing, which is nearly always, its channel is not read, which saves a memory access per delivery.
    var isBackedUp: Bool {
        guard hasQueued, let context, phase != .over else { return false }
        return !context.channel.isWritable
    }
}

// MARK: Flushing

// Writes data once per tick: first directly to the socket, then through NIO what the kernel does not accept. Going
// through NIO first would about double the cost of the system call.

extension EdgeConnection {
    /// Writes this tick's data to the socket, and continues closing if it was the last.
    func flush() {
        awaitsFlush = false
        guard let context, phase != .over else { return }
        if let parcel {
            // Data sent during this flush goes out in the next tick.
            self.parcel = nil
            hand(parcel.bytes, to: context)
        }
        switch phase {
        case .open:
            if isBackedUp { fallBehind() } else { drain() }
        case .closing, .broken, .finished:
            sayGoodbye(context)
        case .over:
            break
        }
    }

    private func hand(_ bytes: ByteBuffer, to context: ChannelHandlerContext) {
        var bytes = bytes
        // Data that NIO holds goes first.
        if hasQueued { hasQueued = queuedBytes > 0 }
        if !hasQueued { bytes.moveReaderIndex(forwardBy: taken(bytes)) }
        guard bytes.readableBytes > 0 else { return }
        hasQueued = true
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// - Returns: How many bytes the kernel accepted. Errors appear when NIO writes the rest.
    private func taken(_ bytes: ByteBuffer) -> Int {
        guard let socket else { return 0 }
        return bytes.withUnsafeReadableBytes { max(0, handOver($0, to: socket)) }
    }

    /// The socket's descriptor. Under TLS nothing may bypass NIO.
    func findSocket(_ context: ChannelHandlerContext) -> NIOBSDSocket.Handle? {
        guard !loop.isEncrypted else { return nil }
        return try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    }

    /// The kernel did not accept everything written in this tick.
    private func fallBehind() {
        loop.watch(self)
        // The members of a large conversation are one frame, which may be larger than the ceiling.
        guard outboundBytes - largestFrame <= loop.settings.outboundCeiling else { return closeAsSlow() }
        guard !isBehind else { return }
        isBehind = true
        loop.shard.fellBehind(self)
    }

    /// The kernel has accepted enough of the waiting data.
    func drain() {
        // The channel may become writable in the tick that has written the frame, before the flush.
        if parcel == nil { largestFrame = 0 }
        guard isBehind || awaitsDrain else { return }
        isBehind = false
        awaitsDrain = false
        sparedBytes = 0
        loop.shard.drained(self)
    }
}

// MARK: Closing

// How a connection closes. Both sides send a close frame. Then the worker ends its side of the stream, and closes the
// socket when the peer has ended its side too or a timeout passes.

extension EdgeConnection {
    /// The phases of closing.
    enum Phase: UInt8 {
        case open
        /// We have sent a close frame and ignore everything except the peer's.
        case closing
        /// The peer broke the protocol. We have sent a close frame, and ignore further input.
        case broken
        /// Both close frames are sent.
        case finished
        /// The channel is closed.
        case over

        var listens: Bool { self == .open || self == .closing }
    }

    /// Closes with a close frame. Data sent earlier goes out first; nothing more is received.
    ///
    /// - Parameter reason: A text for developers; at most 123 bytes are sent.
    func close(_ code: CloseCode, reason: String = "") {
        hangUp(.here(code), with: .close(code, reason: reason), then: .closing)
    }

    /// Closes without a close frame.
    func abort() {
        note(.lost)
        context?.closeSocket()
    }

    /// Closes because the peer reads too slowly.
    func closeAsSlow() {
        guard phase == .open else { return }
        loop.limitHit(.outboundBytes)
        end(.slow)
    }

    /// Closes for a cause that the edge finds, after the farewell that the shard would send.
    private func end(_ end: SessionEnd) {
        if let farewell = end.farewell { write(ServerFrame(.goodbye(farewell))) }
        close(end)
    }

    /// Closes because the peer sends too many frames that complete no message.
    func closeAsFlooding() {
        if phase == .open {
            loop.limitHit(.frames)
            end(.flood)
        }
        // Further input is ignored and left in the kernel, because it may never end.
        if phase == .closing { phase = .broken }
        pause()
    }

    func fail(_ violation: WebSocketViolation) {
        if violation == .tooBig { loop.limitHit(.messageBytes) }
        let isHello = violation == .tooBig && !isSeated
        let reason = isHello ? "A hello has at most \(decoder.limit) bytes." : violation.reason
        let end = SessionEnd.violation(violation.code, because: reason)
        hangUp(.here(end.code), with: .close(end.code, reason: end.sentence), then: .broken)
        if phase == .closing { phase = .broken }
    }

    func peerClosed(_ code: CloseCode?) {
        hangUp(.peer(code), with: .close(code), then: .finished)
        if phase == .closing {
            phase = .finished
            loop.flushSoon(self)
        }
    }

    /// Sends the last frame. The shard is notified at the end of the tick, not within one of its own calls.
    private func hangUp(_ cause: Ending, with frame: ServerFrame, then next: Phase) {
        guard phase == .open, context != nil else { return }
        note(cause)
        listen()
        write(frame)
        phase = next
        loop.flushSoon(self)
    }

    /// Called after the close frame was flushed: notifies the shard and ends our side of the stream. The socket stays
    /// open for a while to read remaining input. If it were closed at once, unread input would make the kernel reset
    /// the connection, and our close frame could be lost.
    func sayGoodbye(_ context: ChannelHandlerContext) {
        bow()
        guard phase != .finished || outboundBytes > 0 else { return context.close(promise: nil) }
        guard !isHalfClosed else { return }
        isHalfClosed = true
        context.close(mode: .output, promise: nil)
        loop.awaitEnd(of: self)
    }
}
