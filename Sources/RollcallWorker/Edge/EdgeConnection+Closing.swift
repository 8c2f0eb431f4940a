// How a connection ends. Whoever closes first, both say so in a close frame; then the stream ends, our side first, and
// the socket is closed when the peer has ended its side too, or has taken too long to.

import NIOCore
import RollcallModel

extension EdgeConnection {
    /// Where the connection stands on its way to the end.
    enum Phase: UInt8 {
        case open
        /// We have sent a close frame; only the peer's is of interest now.
        case closing
        /// The peer broke the protocol: a close frame has told it, and what it sends has no meaning any more.
        case broken
        /// Both close frames are sent.
        case finished
        /// The channel is closed.
        case over

        var listens: Bool { self == .open || self == .closing }
    }

    /// Closes with a close frame. What was sent before goes out first; nothing is received any more.
    ///
    /// - Parameter reason: for a developer to read; at most 123 bytes of it go out.
    func close(_ code: CloseCode, reason: String = "") {
        hangUp(.here(code), with: .close(code, reason: reason), then: .closing)
    }

    /// Closes without a word.
    func abort() {
        note(.lost)
        context?.closeSocket()
    }

    /// Closes because the peer reads more slowly than it asks to be told.
    func closeAsSlow() {
        guard phase == .open else { return }
        loop.limitHit(.outboundBytes)
        write(Self.slowGoodbye)
        close(.tooSlow)
    }

    private static let slowGoodbye = ServerFrame(.goodbye(.init(reason: .slow, reconnect: true)))

    /// Closes because the peer sends too many frames that complete no message.
    func closeAsFlooding() {
        if phase == .open {
            loop.limitHit(.frames)
            write(Self.limitGoodbye)
            close(.tooManyMessages)
        }
        // What it sends has no meaning any more, and is left in the kernel: there may be no end of it.
        if phase == .closing { phase = .broken }
        pause()
    }

    private static let limitGoodbye = ServerFrame(.goodbye(.init(reason: .limit, reconnect: false)))

    func fail(_ violation: WebSocketViolation) {
        if violation == .tooBig { loop.limitHit(.messageBytes) }
        hangUp(.here(violation.code), with: .close(violation.code, reason: violation.reason), then: .broken)
        if phase == .closing { phase = .broken }
    }

    func peerClosed(_ code: CloseCode?) {
        hangUp(.peer(code), with: .close(code), then: .finished)
        if phase == .closing {
            phase = .finished
            loop.flushSoon(self)
        }
    }

    /// Sends the last frame. The shard hears of it at the end of the tick, not within a call of its own.
    private func hangUp(_ cause: Ending, with frame: ServerFrame, then next: Phase) {
        guard phase == .open, context != nil else { return }
        note(cause)
        listen()
        write(frame)
        phase = next
        loop.flushSoon(self)
    }

    /// After the close frame was flushed: tells the shard, and ends our side of the stream. The socket stays a while to
    /// read what the peer still has to say. Were it closed at once, what it says would make the kernel reset the
    /// connection, and our close frame might be lost on its way.
    func sayGoodbye(_ context: ChannelHandlerContext) {
        bow()
        guard phase != .finished || outboundBytes > 0 else { return context.close(promise: nil) }
        guard !isHalfClosed else { return }
        isHalfClosed = true
        context.close(mode: .output, promise: nil)
        loop.awaitEnd(of: self)
    }
}
