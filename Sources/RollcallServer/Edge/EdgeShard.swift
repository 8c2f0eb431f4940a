// The interface from the edge to the sessions: one shard per event loop, notified of connections, messages and
// disconnects.

import NIOCore
import RollcallCore
import RollcallProtocol

/// The owner of the sessions of one event loop.
///
/// All calls come on the connection's event loop, one after the other, and never from within the shard's own call of a
/// method of the connection.
protocol EdgeShard: AnyObject {
    /// Assigns the shard the connections of this loop.
    func serves(_ loop: EdgeLoop)

    /// A WebSocket is open; nothing has been received on it yet.
    func connected(_ connection: EdgeConnection)

    /// Proves whose device this is, and gives it a seat among the sessions of the worker and of the user.
    func prove(
        _ token: ByteString, device: DeviceID?, of connection: EdgeConnection
    ) throws(ProofRefusal) -> Proof

    /// A complete text message: valid UTF-8 of at most `limits.message_bytes`. Its memory is reused after the call
    /// unless the shard keeps the buffer.
    func received(_ text: ByteBuffer, on connection: EdgeConnection)

    /// More bytes wait for this connection than the high-water mark: its peer does not read, or too slowly. Hold back
    /// what can wait, so that it is current when it goes out.
    func fellBehind(_ connection: EdgeConnection)

    /// Fewer bytes wait than the low-water mark, after ``fellBehind(_:)``, or as ``EdgeConnection/tellWhenDrained()``
    /// requested.
    func drained(_ connection: EdgeConnection)

    /// The connection ended; ``EdgeConnection/ending`` has the cause. Called exactly once per ``connected(_:)``.
    /// Nothing is received afterwards, and everything sent is dropped.
    func disconnected(_ connection: EdgeConnection)
}

extension EdgeShard {
    func serves(_ loop: EdgeLoop) {}
    func fellBehind(_ connection: EdgeConnection) {}
    func drained(_ connection: EdgeConnection) {}
}
