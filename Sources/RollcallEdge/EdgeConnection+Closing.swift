// How a connection closes. Both sides send a close frame. Then the worker ends its side of the stream, and closes the
// socket when the peer has ended its side too or a timeout passes.

import NIOCore
import RollcallCore
import RollcallListener
import RollcallModel
import RollcallShards

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
