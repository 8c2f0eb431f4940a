// The transport of messages: text over a WebSocket, or values passed directly to a node in the same process or a test.

package import NIOCore

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

// The environment of a client in an app or a server.
extension Environment {
    /// The system's clock and random numbers, and this event loop. For an app's durations beyond what the loop can express,
    /// `TimeAmount` has its maximum, and a timer that fires early is set again.
    package static func on(_ loop: any EventLoop) -> Environment {
        Environment(now: { .now }, random: { .random(in: .min ... .max) }, run: { loop.execute($0) }) {
            let timer = loop.scheduleTask(in: TimeAmount(max(.zero, ContinuousClock.now.duration(to: $0))), $1)
            return { timer.cancel() }
        }
    }
}
