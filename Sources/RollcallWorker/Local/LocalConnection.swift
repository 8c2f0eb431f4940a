// A session of this very process: to its shard what a WebSocket is, without the socket, the frames and the text. It
// lives on its shard's loop, so that whatever a tick says is taken in the next: nothing can pile up between the two,
// and nobody here is ever too slow.

internal import NIOCore
package import RollcallModel

/// Whoever is at this end of a ``LocalConnection``. Everything comes on the connection's event loop, and nothing from
/// within a call of the connection.
package protocol LocalListener: AnyObject {
    func heard(_ message: ServerMessage)
    /// The node has ended the session. Comes at most once; nothing follows.
    func ended(_ code: CloseCode)
}

/// A connection from within the process. Belongs to its event loop.
package final class LocalConnection {
    /// Who speaks here; this process says so.
    let user: UserID
    /// The shard's own: where it keeps the session.
    var slot: Int32 = -1

    private let driver: ShardDriver
    private weak var listener: (any LocalListener)?
    private let onEnd: () -> Void
    private var waiting: [ServerMessage] = []
    private var closed: CloseCode?
    private var isOver = false
    private var awaitsDrain = false
    private var isDeliveryDue = false

    init(of user: UserID, to driver: ShardDriver, listener: any LocalListener, onEnd: @escaping () -> Void) {
        self.user = user
        self.driver = driver
        self.listener = listener
        self.onEnd = onEnd
    }

    /// Says something to the node.
    package func say(_ request: ClientRequest) {
        if !isOver { driver.received(request, on: self) }
    }

    /// Ends the connection without a goodbye, as a lost network would. The listener hears nothing more.
    package func hangUp() {
        guard !isOver else { return }
        over()
        driver.disconnected(self)
    }
}

// The shard's side.
extension LocalConnection {
    /// - Returns: whether it was not dropped.
    func send(_ message: ServerMessage) -> Bool {
        guard !isOver else { return false }
        waiting.append(message)
        deliverSoon()
        return true
    }

    /// Tells the shard when what was sent has been taken.
    func tellWhenDrained() {
        awaitsDrain = true
        deliverSoon()
    }

    /// Ends the session, once what was sent has been taken.
    func close(_ code: CloseCode) {
        closed = code
        deliverSoon()
    }

    private func deliverSoon() {
        guard !isDeliveryDue else { return }
        isDeliveryDue = true
        driver.eventLoop.assumeIsolated().execute { self.deliver() }
    }

    private func deliver() {
        isDeliveryDue = false
        let messages = waiting
        waiting = []
        for message in messages where !isOver { listener?.heard(message) }
        guard !isOver else { return }
        if let closed, waiting.isEmpty {
            over()
            listener?.ended(closed)
        } else if awaitsDrain {
            awaitsDrain = false
            driver.drained(self)
        }
    }

    private func over() {
        isOver = true
        waiting = []
        onEnd()
    }
}
