// What a shard wants done. Actions name things; they carry no closures, so that tests can compare them.

public import RollcallModel

public typealias SessionKey = SlotKey<Session>
public typealias RoomKey = SlotKey<Room>
public typealias WatchKey = SlotKey<Watch>

/// Something for the worker to do, in the order given.
public enum ShardAction: Hashable, Sendable {
    /// Encode once, and send to all of these.
    case send(ServerMessage, to: [SessionKey])
    /// Send a part of what there is now; it does not count against the reader's slowness.
    case sendSnapshot(ServerMessage, to: SessionKey)
    /// Close the connection, after what was sent.
    case close(SessionKey, CloseCode)
    /// Look at a token; ``Shard/authenticated(_:user:device:lifetime:id:at:)`` or ``Shard/refused(_:_:at:)`` takes the answer.
    case authenticate(SessionKey, token: String, device: DeviceID?, id: MessageID?)

    case subscribe(Topic)
    case unsubscribe(Topic)

    case list(SessionName, under: Incarnation, for: SessionKey)
    case unlist(SessionName, under: Incarnation, for: SessionKey)
    case write(DeviceWrite, for: SessionKey)
    /// Tell the worker that held this device's earlier session.
    case announceReplaced(SessionName, previous: DeviceWritten.PreviousSession)

    case signalTyping(TypingSignal, for: SessionKey, id: MessageID?)
    /// A stop; an owed one has no session to answer any more.
    case stopTyping(TypingSignal, for: SessionKey?, id: MessageID?)

    case readRoom(RoomRead, for: RoomKey)
    /// A read of watched users. An authoritative one counts whatever its version.
    case readPresence([UserID], isAuthoritative: Bool)
    /// A client's `get`; ``Shard/gotPresence(_:for:id:)`` takes the answer.
    case getPresence([UserID], for: SessionKey, id: MessageID?)
}

/// A read of a conversation.
public struct RoomRead: Hashable, Sendable {
    public var conversation: ConversationID
    /// Whose membership is asked.
    public var user: UserID
    public var withTyping: Bool
    public var withMembers: Bool
}
