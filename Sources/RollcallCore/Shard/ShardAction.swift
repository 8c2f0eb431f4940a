// What a shard wants done. Actions name things; they carry no closures, so that tests can compare them.

public import RollcallModel

public typealias SessionKey = SlotKey<Session>
public typealias RoomKey = SlotKey<Room>
public typealias WatchKey = SlotKey<Watch>

/// Something for the worker to do, in the order given.
public enum ShardAction: Hashable, Sendable {
    /// Encode once, and send to all of these.
    case send(ServerMessage, to: [SessionKey])
    /// The same; but those spared are behind, and will be shown something newer. For them it counts as though it waited.
    case sendSparing(ServerMessage, to: [SessionKey], spared: [SessionKey])
    /// Send a part of what there is now; it does not count against the reader's slowness.
    case sendSnapshot(ServerMessage, to: SessionKey)
    /// Say ``Shard/caughtUp(_:at:)`` once what was sent has left, be it at once.
    case tellWhenDrained(SessionKey)
    /// Read no more of what this session says than has come already, until ``listen(_:)``: it waits in the shard.
    case hold(SessionKey)
    case listen(SessionKey)
    /// A limit has held, for whoever counts: the session was refused something, or is closed next.
    case limitHit(SessionLimit, SessionKey)
    /// Close the connection, after what was sent.
    case close(SessionKey, CloseCode)
    /// Look at a token; ``Shard/authenticated(_:user:device:lifetime:id:at:)`` or ``Shard/refused(_:_:at:)`` takes the answer.
    case authenticate(SessionKey, token: String, device: DeviceID?, id: MessageID?)

    case subscribe(Topic)
    case unsubscribe(Topic)

    /// List a session; later than `until`, by Redis time, that does nothing, and has failed.
    case list(SessionName, under: Incarnation, until: Timestamp, for: SessionKey)
    case unlist(SessionName, under: Incarnation, for: SessionKey)
    case write(DeviceWrite, for: SessionKey)
    /// Tell the worker that held this device's earlier session.
    case announceReplaced(SessionName, previous: DeviceWritten.PreviousSession)

    case signalTyping(TypingSignal, for: SessionKey, id: MessageID?)
    case stopTyping(TypingSignal)

    case readRoom(RoomRead, for: RoomKey)
    /// A read of watched users, with the standings of whom it names and who is not `known`. An authoritative one
    /// counts whatever its version.
    case readPresence([UserID], isAuthoritative: Bool, known: KnownWorkers)
    /// A client's `get`; ``Shard/gotPresence(_:of:for:id:at:)`` takes the answer.
    case getPresence([UserID], known: KnownWorkers, for: SessionKey, id: MessageID?)
    /// Read what stands of these sessions; ``Shard/audited(_:_:at:)`` takes the answer, and nothing has to take that
    /// there is none.
    case audit([AuditedSession], of: Incarnation)
    /// Have all that the worker holds said again, under a new incarnation.
    case assertAnew(AssertionReason)
    /// Have these swept, by whoever sweeps for the worker.
    case sweep([DeadDevice])
}

/// Why a worker goes on under a new incarnation although its lease stands.
public enum AssertionReason: Hashable, Sendable, CaseIterable {
    /// One of several servers has forgotten what it had.
    case forgotten
    /// Sessions whose devices may stand in Redis were dropped for want of room: a sweep of the former incarnation, whose
    /// lease then passes, removes them.
    case sessionsDropped
}

/// What a session may not exceed.
public enum SessionLimit: Hashable, Sendable, CaseIterable {
    case hello, messageRate, names, watchedUsers, joinedConversations
}

/// A session whose record is compared with what it decided.
public struct AuditedSession: Hashable, Sendable {
    public var session: SessionKey
    public var name: SessionName
    /// The decision that should stand.
    var sequence: Int64
}

/// A read of a conversation.
public struct RoomRead: Hashable, Sendable {
    public var conversation: ConversationID
    /// Whose membership is asked.
    public var user: UserID
    public var withTyping: Bool
    /// How many members are read with it, at most; 0 for none.
    public var mostMembers: Int
    /// Whether the user wants to join. Otherwise the worker reads again what it tells those who are there.
    package var isForJoin = false
}
