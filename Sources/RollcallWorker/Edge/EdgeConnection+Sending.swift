// What a connection sends. Frames come finished; NIO holds what the kernel does not take at once, and knows how much
// that is. The bytes leave in `flush()`, once a tick: the one place where they could go to the socket by another way.

import NIOCore
import RollcallModel

extension EdgeConnection {
    /// Sends frames, which are built once for all their receivers; dropped if the connection is ending.
    ///
    /// - Parameter counting: whether the bytes count against `limits.outbound_bytes`. Those of snapshots do not, so it
    ///   is for the shard to send the next piece when the last has drained; see ``tellWhenDrained()``.
    /// - Returns: whether it was not dropped.
    @discardableResult
    func send(_ frame: ServerFrame, counting: Bool = true) -> Bool {
        guard phase == .open, let context else { return false }
        if !counting || exempt > 0 {
            exempt = min(exempt, outboundBytes) + (counting ? 0 : frame.count)
        }
        write(frame, to: context)
        loop.flushSoon(self)
        return true
    }

    /// Hands a frame to NIO, which keeps it until ``flush()``. Under TLS it is not among the bytes that the channel counts
    /// before it is encrypted, which happens then.
    func write(_ frame: ServerFrame, to context: ChannelHandlerContext) {
        if loop.isEncrypted { unencryptedBytes += frame.count }
        loop.tally.sentFrames += 1
        loop.tally.sentBytes += frame.count
        context.write(wrapOutboundOut(frame.bytes), promise: nil)
    }

    /// Counts a frame that is not sent, since the peer is behind and will be sent something newer: how slow a peer is
    /// shows in what it missed.
    func spare(_ frame: ServerFrame) {
        if isBehind { sparedBytes += frame.count }
    }

    /// Tells the shard when what was sent has left, be it at the end of this tick.
    func tellWhenDrained() {
        guard phase == .open else { return }
        awaitsDrain = true
        loop.flushSoon(self)
    }

    /// Sends the sweep's ping, or gives the peer up after two that it let pass in silence: not while we do not listen.
    func ping() {
        guard phase == .open, !isPaused else { return }
        guard unanswered < 2 else { return abort() }
        unanswered += 1
        send(.ping)
    }

    /// Bytes that the kernel has not yet taken.
    var outboundBytes: Int {
        guard let channel = context?.channel, phase != .over else { return 0 }
        return ((try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0) + unencryptedBytes
    }

    /// Of ``outboundBytes``, those that count, and what the peer was spared since it fell behind. Which of the waiting
    /// bytes are exempt is not tracked; they are taken to be the last to leave, which errs to the peer's good.
    var countedBytes: Int {
        let waiting = outboundBytes
        return waiting - min(exempt, waiting) + sparedBytes
    }

    /// Whether more waits than the high-water mark, or has since, and not yet less than the low one.
    var isBackedUp: Bool {
        guard let context, phase != .over else { return false }
        return !context.channel.isWritable
    }

    /// Hands the kernel what this tick has written, and goes on with the closing if that was the last.
    func flush() {
        awaitsFlush = false
        guard let context, phase != .over else { return }
        context.flush()
        unencryptedBytes = 0
        switch phase {
        case .open:
            if isBackedUp { fallBehind() } else { drain() }
        case .closing, .broken, .finished:
            sayGoodbye(context)
        case .over:
            break
        }
    }

    /// The kernel has taken enough of what waited.
    func drain() {
        guard isBehind || awaitsDrain else { return }
        isBehind = false
        awaitsDrain = false
        sparedBytes = 0
        loop.shard.drained(self)
    }

    /// The kernel has not taken what this tick wrote.
    private func fallBehind() {
        loop.watch(self)
        guard outboundBytes <= loop.settings.outboundCeiling else { return closeAsSlow() }
        guard !isBehind else { return }
        isBehind = true
        loop.shard.fellBehind(self)
    }
}
