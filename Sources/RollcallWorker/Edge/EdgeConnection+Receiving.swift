// What a peer sends, and what becomes of it.

import Logging
import NIOCore

extension EdgeConnection {
    /// Takes what has arrived, frame by frame, until the connection listens no more.
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

    /// The shard takes nothing for now. What has been read goes on to it nevertheless, and a little more: in most cases
    /// it listens again before anything comes. Behind a hello may so come the start of any message, and no more than
    /// that.
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

    /// Reads into the loop's buffer from now on, and much at once. Not what is encrypted: TLS keeps what it is given until
    /// it has decrypted it.
    private func shareBuffer() {
        guard !loop.isEncrypted, let options = context?.channel.syncOptions, phase != .over else { return }
        let buffer = SharedBuffer(loop: NIOLoopBound(loop, eventLoop: loop.eventLoop))
        try? options.setOption(.recvAllocator, value: buffer)
    }

    /// Leaves what the peer says in the kernel, which soon lets it send no more.
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
            guard takeIncomplete(), phase == .open else { break }
            if allowance.takePong(at: loop.clock.awake) { send(.pong(payload)) } else { loop.limitHit(.pongs) }
        case .pong:
            takeIncomplete()  // It has counted as life when its bytes came.
        case .close(let code):
            peerClosed(code)
        }
    }
    /// Counts a frame that completes no message.
    ///
    /// - Returns: whether the connection may go on; otherwise it is closed.
    @discardableResult
    private func takeIncomplete() -> Bool {
        guard !allowance.takeFrame(at: loop.clock.awake) else { return true }
        closeAsFlooding()
        return false
    }
}
