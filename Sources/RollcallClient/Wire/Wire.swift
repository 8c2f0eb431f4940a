// The seam between what the client says and how it travels: as text over a WebSocket, or as it is to a node in the same
// process or to a test.

package import NIOCore

/// One connection to one worker, from the attempt at it to its end. Used on the client's event loop only.
package protocol Wire: AnyObject {
    /// Whether it may die without a word, as a network does, so that silence has to be judged.
    var mayDieSilently: Bool { get }
    /// Takes one message, which ``flush()`` sends.
    func send(_ request: ClientRequest)
    func flush()
    /// Ends the connection in an orderly way and then calls `done`. Nothing more is told to the owner.
    func close(_ done: @escaping () -> Void)
    /// Drops the connection at once. Nothing more is told to the owner.
    func abort()
}

/// Whom a wire tells what happens on it. Everything comes on the client's event loop, and nothing before the call that
/// made the wire has returned.
package protocol WireOwner: AnyObject {
    /// The handshake is done: messages may be sent.
    func wireOpened(_ wire: any Wire)
    /// Something came, be it only a ping.
    func wireHeard(_ wire: any Wire)
    func wireReceived(_ wire: any Wire, _ message: ServerMessage)
    /// At most once, and nothing comes after it.
    func wireEnded(_ wire: any Wire, how: Ending)
}

/// How to reach a worker.
package typealias Dial = @Sendable (WorkerAddress, any EventLoop, any WireOwner) -> any Wire
