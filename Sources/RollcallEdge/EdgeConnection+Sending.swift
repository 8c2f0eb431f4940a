// Output to a peer. Frames are encoded in advance and collected until `flush()`, once per tick. NIO holds what the
// kernel does not accept, and knows its size.

import NIOCore
import RollcallModel

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
