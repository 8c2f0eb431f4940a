// Input from a peer.

import Logging
import NIOCore
import RollcallShards

extension EdgeConnection {
    /// Decodes input frame by frame, until the connection stops receiving.
    func receive(_ input: inout ByteBuffer, message: inout ByteBuffer) {
        do throws(WebSocketViolation) {
            while phase.listens, let event = try decoder.next(&input, message: &message) {
                take(event, message: message)
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

    private func take(_ event: WebSocketDecoder.Event, message: ByteBuffer) {
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
