// The actions that a shard requests. They hold no closures, so tests can compare them.

public import RollcallModel

/// Something for the worker to do, in the order given.
public enum ShardAction: Hashable {
    /// Encode the message once, and send it to all of these sessions.
    case send(ServerMessage, to: [Session])
    /// The same, but without sending to `spared` sessions: they are behind, and get a newer state later. For
    /// slow-reader limits, the message counts as if it were queued for them.
    case sendSparing(ServerMessage, to: [Session], spared: [Session])
    /// Send a part of the current state. It does not count towards slow-reader limits.
    case sendSnapshot(ServerMessage, to: Session)
    /// Call ``Shard/caughtUp(_:at:)`` once everything sent so far is flushed, or at once if it already is.
    case tellWhenDrained(Session)
    /// Stop reading from this session until ``listen(_:)``. Messages already received are passed on and wait in the
    /// shard.
    case hold(Session)
    case listen(Session)
    /// A limit took effect: a request was refused or delayed, or the session is closed next. For metrics.
    case limitHit(SessionLimit, Session)
    /// Close the connection after flushing what was sent, the farewell included.
    case close(Session, SessionEnd)
    /// Verify a token; report to ``Shard/authenticated(_:user:device:lifetime:issued:id:at:)``,
    /// ``Shard/refused(_:_:at:)`` or ``Shard/tokenRefused(_:_:id:at:)``.
    case authenticate(Session, token: ByteString, device: DeviceID?, id: MessageID?)

    case subscribe(Topic)
    case unsubscribe(Topic)

    /// Ask Redis; report the reply to ``ShardShell/answered(_:_:)``.
    case store(StoreRequest)
    /// Start a new incarnation, under which everything on this worker is written again.
    case assertAnew(AssertionReason)
    /// Sweep these devices, through the worker's sweeper.
    case sweep([DeadDevice])
}

/// Why a worker starts a new incarnation although its lease is valid.
public enum AssertionReason: Hashable, Sendable, CaseIterable {
    /// One of several Redis servers lost its data.
    case forgotten
    /// Sessions that may have devices in Redis were dropped to limit memory. The lease of the old incarnation expires,
    /// and a sweep removes the devices.
    case sessionsDropped
}

/// A limit on what a session may do.
public enum SessionLimit: Hashable, Sendable, CaseIterable {
    case hello, messageRate, watchedUsers, joinedConversations
}

/// A session whose record is compared with its last decision.
public struct AuditedSession: Hashable {
    public var session: Session
    public var name: SessionName
    /// The decision that the record should hold.
    var sequence: Int64
}

/// A read of a conversation.
public struct RoomRead: Hashable, Sendable {
    public var conversation: ConversationID
    /// The users whose membership is read.
    public var users: [UserID]
    public var withTyping: Bool
    /// The most members to read; 0 for none.
    public var mostMembers: Int
}
