// The other end of a session: a device behind a WebSocket, one in this process, a simulated one, or a test.

public import RollcallProtocol

/// A session's connection. Belongs to the thread of its shard.
///
/// It passes on what the device does with ``Shard/received(_:on:at:)``, ``Shard/fellBehind(_:)``,
/// ``Shard/caughtUp(_:at:)`` and ``Shard/disconnected(_:silence:at:)``, never from within one of its own methods.
public protocol Peer: AnyObject {
    /// Proves whose device this is, and takes its place among the sessions of the worker and of the user.
    ///
    /// - Parameter device: the device that the client named.
    func prove(_ token: ByteString, device: DeviceID?) throws(ProofRefusal) -> Proof

    /// The oldest message that was received and not taken yet is processed now; what follows from it comes next.
    func took()

    /// Sends a message; it is dropped if the connection is ending.
    ///
    /// - Parameter counting: whether the message counts towards the limit of what may wait. Snapshots do not.
    /// - Returns: `false` if it was dropped.
    func send(_ delivery: Delivery, counting: Bool) -> Bool

    /// Counts a skipped message: the session is behind and will receive a newer state.
    func spare(_ delivery: Delivery)

    /// Calls ``Shard/caughtUp(_:at:)`` once everything sent so far has left, or soon if it already has.
    func tellWhenDrained()

    /// Stops reading until ``listen()``. Messages already received are passed on and wait in the shard.
    func hold()
    func listen()

    /// Whether it can connect to another worker: not if it is in this process.
    var canMove: Bool { get }

    /// Counts a limit that took effect: a request was refused or delayed, or the session is closed next.
    func limitHit(_ limit: Limit)

    /// Closes the connection after what was sent has left, the farewell included. The shard calls nothing after it, and
    /// ignores what the connection still reports.
    func close(_ end: SessionEnd)
}

extension Peer {
    public func took() {}
}

/// A message for one or more sessions, to be encoded once for all of them.
public struct Delivery {
    public let message: ServerMessage
    /// Different for each message of a shard.
    public let number: Int
}

/// Whose device is at the other end.
public struct Proof: Hashable, Sendable {
    public var user: UserID
    public var device: DeviceID
    /// How long the proof is valid; the session ends with it. `nil` for no limit.
    public var lifetime: Duration?
    /// When it was issued, which decides whether a revocation applies; `nil` if none can apply.
    public var issued: Timestamp?
    /// What it says besides.
    public var grant: Grant

    public init(
        user: UserID, device: DeviceID, lifetime: Duration? = nil, issued: Timestamp? = nil, grant: Grant = Grant()
    ) {
        (self.user, self.device, self.lifetime, self.issued, self.grant) = (user, device, lifetime, issued, grant)
    }
}

/// Why a token proves nothing, or there is no room for the session.
public struct ProofRefusal: Error, Hashable {
    /// How the session ends.
    public var end: SessionEnd
    /// Whether a welcomed session ends, too, instead of going on with its present token until that expires.
    public var endsWelcomed: Bool

    public init(_ end: SessionEnd, endsWelcomed: Bool) {
        (self.end, self.endsWelcomed) = (end, endsWelcomed)
    }
}

/// All limits of a worker. The names are values of the metric label `limit` and do not change.
public enum Limit: String, CaseIterable, Sendable {
    case sessions
    case sessionsPerUser = "sessions_per_user"
    case hellosPerUser = "hellos_per_user"
    case connectionsPerAddress = "connections_per_address"
    case handshakes
    /// Descriptors available to this process.
    case openFiles = "open_files"
    case headerBytes = "header_bytes"
    case origins
    case hello
    case messageBytes = "message_bytes"
    case messageRate = "message_rate"
    case watchedUsers = "watched_users"
    case joinedConversations = "joined_conversations"
    case enteredConversations = "entered_conversations"
    case hereData = "here_data"
    case outboundBytes = "outbound_bytes"
    case frames
}

extension Peer {
    public var canMove: Bool { true }
}
