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

/// What answered the handshake with something else than 101: a worker, or what stands before it.
package struct UpgradeRefused: Error, Hashable, CustomStringConvertible {
    /// What an answer means.
    enum Meaning {
        /// A worker asks for fewer attempts.
        case full
        /// Somebody has to correct something.
        case refusal
        /// It says nothing of the workers.
        case silence
    }

    let status: Int
    /// Whether the answer bears the mark of a worker, the header `Rollcall`.
    let isOurs: Bool
    /// How long it asks to be left alone.
    let retryAfter: Duration?

    /// - Parameter header: returns a header of the answer, if it has it.
    package init(status: Int, header: (String) -> String? = { _ in nil }) {
        self.status = status
        isOurs = header("Rollcall") != nil
        retryAfter = header("Retry-After").flatMap { UInt32($0) }.flatMap { $0 == 0 ? nil : .seconds(Int64($0)) }
    }

    var meaning: Meaning {
        if isOurs { return status == 429 || status == 503 ? .full : .refusal }
        return status == 429 ? .refusal : .silence
    }

    package var description: String {
        if status == 429 { return "too many connections from this address at once" }
        guard isOurs else { return "no worker answered, but something that answers \(status)" }
        return switch status {
        case 403: "this app may not connect: add its origin to the worker's edge.origins"
        case 404: "no worker answers at this path; a worker's is /v1/connect"
        case 426: "a worker answers, but no WebSocket opens: does a proxy pass Host and Upgrade on?"
        case 503: "the worker has no room"
        default: "the worker answered \(status)"
        }
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
