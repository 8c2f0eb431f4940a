// What a connection sends. Frames come finished, and are gathered until `flush()`, once a tick; NIO holds what the kernel
// does not take then, and knows how much that is.

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
        guard phase == .open, context != nil else { return false }
        if !counting || exempt > 0 {
            exempt = min(exempt, outboundBytes) + (counting ? 0 : frame.count)
        }
        write(frame)
        loop.flushSoon(self)
        return true
    }

    /// Puts a frame behind what this tick has written so far.
    func write(_ frame: ServerFrame) {
        loop.tally.sentFrames += 1
        loop.tally.sentBytes += frame.count
        parcel = loop.parcel(parcel, adding: frame)
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
        phase == .over ? 0 : queuedBytes + (parcel?.count ?? 0)
    }

    /// Of those, the ones that NIO holds.
    var queuedBytes: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Of ``outboundBytes``, those that count, and what the peer was spared since it fell behind. Which of the waiting
    /// bytes are exempt is not tracked; they are taken to be the last to leave, which errs to the peer's good.
    var countedBytes: Int {
        let waiting = outboundBytes
        return waiting - min(exempt, waiting) + sparedBytes
    }

    /// Whether more waits than the high-water mark, or has since, and not yet less than the low one. Where NIO holds
    /// nothing, which is nearly everywhere, its channel need not be looked at: that is memory to be fetched per delivery.
    var isBackedUp: Bool {
        guard hasQueued, let context, phase != .over else { return false }
        return !context.channel.isWritable
    }
}
