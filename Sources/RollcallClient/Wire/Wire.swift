// The transport of messages: text over a WebSocket, or values passed directly to a node in the same process or a test.

/// One connection to one worker, including the attempt. Used on the client's queue only.
package protocol Wire: AnyObject {
    /// Whether the connection may die unnoticed, as on a network, so that silence must be judged.
    var mayDieSilently: Bool { get }
    /// Queues one message. ``flush()`` sends it.
    func send(_ request: ClientRequest)
    func flush()
    /// Closes the connection in an orderly way, then calls `done`. The owner gets no further events.
    func close(_ done: @escaping () -> Void)
    /// Drops the connection at once. The owner gets no further events.
    func abort()
}

/// Receives the events of a wire, on the client's queue. No event arrives before the call that made the wire has
/// returned.
package protocol WireOwner: AnyObject {
    /// The handshake is done: messages may be sent.
    func wireOpened(_ wire: any Wire)
    /// Something arrived, even if it is only a ping.
    func wireHeard(_ wire: any Wire)
    func wireReceived(_ wire: any Wire, _ message: ServerMessage)
    /// The connection ended. Called at most once, as the last event.
    func wireEnded(_ wire: any Wire, how: Ending)
}

/// Connects to a worker.
package typealias Dial = @Sendable (WorkerAddress, any WireOwner) -> any Wire

/// The server, or a proxy in front of it, did not answer the handshake with 101.
package struct UpgradeRefused: Error, CustomStringConvertible {
    let status: Int

    package var description: String {
        let advice =
            switch status {
            case 401, 403: ": a proxy, or the worker's edge.origins, does not let this app in"
            case 404: ": no worker answers at this path; a worker's is /v1/connect"
            case 429: ": too many connections from this address at once"
            default: ""
            }
        return "the server answered \(status) and no WebSocket\(advice)"
    }
}

/// What a client's network consists of.
struct Network {
    /// The largest message that is read, in bytes. A member list is one message: 100,000 members, the most that
    /// `limits.watched_users` allows, with identifiers of 128 and names of 256 bytes, are 41 MB, and more only where
    /// many characters are escaped. If the limit were lower, the client would reconnect and receive the same list
    /// again, without end. Memory is allocated only for what arrives.
    static let maximumMessage = 64 << 20

    let environment: Environment
    /// Or why this build of the client connects nowhere.
    let dial: Result<Dial, RollcallError>
}
