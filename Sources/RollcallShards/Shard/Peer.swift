// The other end of a session: a device behind a WebSocket, or one in this process.

package import NIOCore
package import RollcallCore
package import RollcallModel

/// The connection of a session. Belongs to the event loop of its shard.
package protocol Peer: AnyObject {
    /// Used by the shard to find the session.
    var slot: Int32 { get set }

    /// The user, if this process named it; `nil` if a token does.
    var user: UserID? { get }

    /// Takes one of the worker's seats, for a session with a valid token.
    ///
    /// - Returns: `false` if all are taken, or the connection is ending.
    func takeSeat() -> Bool

    /// Sends a message; it is dropped if the connection is ending.
    ///
    /// - Parameter counting: Whether the message counts towards the limit of what may wait. Snapshots do not.
    /// - Returns: `false` if it was dropped.
    func send(_ dispatch: inout Dispatch, counting: Bool) -> Bool

    /// Counts a skipped message: the session is behind and will receive a newer state.
    func spare(_ dispatch: inout Dispatch)

    /// Notifies the shard when the messages sent have left.
    func tellWhenDrained()

    /// Stops reading.
    func hold()

    func listen()

    /// Counts a limit that took effect.
    func limitHit(_ limit: Limit)

    /// Ends the session, after the messages sent have left.
    func close(_ end: SessionEnd)
}

/// A message for several sessions. It is encoded at most once, and only if one of them has a socket.
package struct Dispatch {
    package let message: ServerMessage
    /// The encoded message, from the first session with a socket, for the others.
    package var encoded: ByteBuffer?

    init(_ message: ServerMessage) {
        self.message = message
    }
}
