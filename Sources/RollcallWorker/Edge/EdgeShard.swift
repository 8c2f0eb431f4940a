// What the edge asks of whoever holds the sessions: one shard an event loop, told of connections as they come, speak
// and go.

import NIOCore

/// The sessions' side of the edge.
///
/// All calls come on the event loop of the connection, one after the other, and never from within the shard's own call
/// of one of the connection's methods.
protocol EdgeShard: AnyObject {
    /// It is this loop's connections that the shard is told of from now on.
    func serves(_ loop: EdgeLoop)

    /// A WebSocket stands; nothing has been received on it yet.
    func connected(_ connection: EdgeConnection)

    /// One whole text message, valid UTF-8 of at most `limits.message_bytes`. Its memory is used again after the call
    /// unless the shard keeps the buffer.
    func received(_ text: ByteBuffer, on connection: EdgeConnection)

    /// More waits for this connection than the high-water mark: its peer does not read, or not as fast as it is told.
    /// What can wait should, so that it is new when it goes out.
    func fellBehind(_ connection: EdgeConnection)

    /// Less than the low-water mark waits for this connection, after ``fellBehind(_:)``, or as
    /// ``EdgeConnection/tellWhenDrained()`` asked.
    func drained(_ connection: EdgeConnection)

    /// The connection is over, by whatever cause; ``EdgeConnection/ending`` says by which. Comes exactly once for each
    /// ``connected(_:)``; nothing is received afterwards, and what is sent is dropped.
    func disconnected(_ connection: EdgeConnection)

    /// The loop's sweep, about ten times a second.
    ///
    /// - Parameter awake: how long the loop has lived, without the time for which it was asleep. A deadline counted in
    ///   it, such as that of a hello, never passes while what would have met it waits unread.
    func swept(at awake: Duration)
}

extension EdgeShard {
    func serves(_ loop: EdgeLoop) {}
    func fellBehind(_ connection: EdgeConnection) {}
    func drained(_ connection: EdgeConnection) {}
    func swept(at awake: Duration) {}
}
