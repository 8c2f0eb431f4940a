// A session within this process. The shard treats it like a WebSocket, without the socket, frames and text. It runs on
// its shard's event loop: everything sent in one tick is consumed in the next, so nothing accumulates and it is never
// too slow.

internal import NIOCore
package import RollcallCore
package import RollcallProtocol

/// The owner of a ``LocalConnection``. Calls come on the connection's event loop, never from within a call of the
/// connection.
package protocol LocalListener: AnyObject {
    func receive(_ message: ServerMessage)
    /// The node ended the session. Called at most once, as the last call.
    func ended(_ code: CloseCode)
}

/// A connection within the process. Use on its event loop only.
package final class LocalConnection {
    /// The session's user, named by this process.
    private let user: UserID
    private let profile: Profile
    private var session: Session?

    private let driver: ShardDriver
    private weak var listener: (any LocalListener)?
    private let onEnd: () -> Void
    private var waiting: [ServerMessage] = []
    private var closed: CloseCode?
    private var isOver = false
    private var awaitsDrain = false
    private var isDeliveryDue = false

    init(
        of user: UserID, _ profile: Profile, to driver: ShardDriver, listener: any LocalListener,
        onEnd: @escaping () -> Void
    ) {
        self.user = user
        self.profile = profile
        self.driver = driver
        self.listener = listener
        self.onEnd = onEnd
    }

    func connect() {
        session = driver.shard.connected(self)
    }

    /// Sends a request to the node.
    package func say(_ request: ClientRequest) {
        guard !isOver, let session else { return }
        driver.shard.after { $0.received(request, on: session, at: $1) }
    }

    /// Ends the connection without a goodbye, like a network failure. The listener gets no more calls.
    package func hangUp() {
        guard !isOver, let session else { return }
        over()
        driver.shard.after { $0.disconnected(session, silence: .zero, at: $1) }
    }
}

// The shard's side.
extension LocalConnection: Peer {
    package var canMove: Bool { false }

    package func prove(_ token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof {
        do throws(AuthenticationError) {
            return Proof(user: user, device: try Identity.device(device), grant: Grant(profile: profile))
        } catch {
            throw ProofRefusal(error.end, endsWelcomed: false)
        }
    }

    /// - Returns: `false` if it was dropped.
    package func send(_ delivery: Delivery, counting: Bool) -> Bool {
        guard !isOver else { return false }
        waiting.append(delivery.message)
        deliverSoon()
        return true
    }

    /// Nothing is skipped: a session of this process is never behind.
    package func spare(_ delivery: Delivery) {}

    /// Messages from this process may still wait in the shard.
    package func hold() {}

    package func listen() {}

    /// Limits are not counted for sessions of this process.
    package func limitHit(_ limit: Limit) {}

    /// Notifies the shard when the messages sent have been consumed.
    package func tellWhenDrained() {
        awaitsDrain = true
        deliverSoon()
    }

    /// Ends the session, after the messages sent have been consumed.
    package func close(_ end: SessionEnd) {
        closed = end.code
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
        for message in messages where !isOver { listener?.receive(message) }
        guard !isOver else { return }
        if let closed, waiting.isEmpty {
            over()
            listener?.ended(closed)
        } else if awaitsDrain {
            awaitsDrain = false
            guard let session else { return }
            driver.shard.after { $0.caughtUp(session, at: $1) }
        }
    }

    private func over() {
        isOver = true
        session = nil
        waiting = []
        onEnd()
    }
}
