// The messages from clients: one JSON object per text frame.

/// A message from a client to its worker.
public enum ClientMessage: Hashable, Sendable {
    /// Must be the first message, and is sent once: the user's token, the device and its state.
    case hello(Hello)
    /// A fresh token for the same user and device.
    case token(ByteString)
    case state(DeviceState)
    /// Subscribes to the presence of these users: a snapshot, then changes.
    case watch([UserID])
    case unwatch([UserID])
    /// Reads the presence of these users once.
    case get([UserID])
    /// Subscribes to typing in this conversation, with `presence` also to its members and their presence, and with `here` to
    /// who has it open.
    case join(ConversationID, presence: Bool, here: Bool = false)
    /// Ends ``join(_:presence:here:)``, and what the session does there.
    case leave(ConversationID)
    /// The session has the conversation open, and shows this. Repeated: shows something else.
    case enter(ConversationID, data: HereData? = nil)
    /// Ends ``enter(_:data:)``.
    case exit(ConversationID)
    /// The user is typing there (repeated while that lasts), or has stopped.
    case typing(ConversationID, Bool, kind: TypingKind = .typing)
    /// Sets what the user lets others see: on all their devices.
    case person(PersonPatch)
    case ping
    /// Ends the session in an orderly way: the device is gone at once, without a grace period.
    case goodbye

    /// How many messages it counts as, of the budget that the sessions of a user share on an event loop: docs/protocol.md,
    /// "Message budget". A `join` with presence costs what it may show; ``refund(showing:_:)`` gives back what it did not.
    ///
    /// - Parameter entries: how many conversations the session is in: a change of its state is one of each.
    package func cost(_ limits: ServerMessage.Limits, entries: Int = 0) -> Int {
        let cost =
            switch self {
            case .token, .person: 10
            case .watch(let users), .unwatch(let users), .get(let users): Self.cost(ofNaming: users.count)
            case .join(_, let presence, let here):
                (presence ? Self.cost(ofNaming: limits.watchedUsers) : 1) + (here ? 1 : 0)
            case .state: 1 + entries
            case .hello, .leave, .enter, .exit, .typing, .ping, .goodbye: 1
            }
        return max(1, min(cost, limits.messageBurst))
    }

    /// What a `join` with presence costs too much if it shows so many members.
    package static func refund(showing members: Int, _ limits: ServerMessage.Limits) -> Int {
        let most = max(1, limits.messageBurst)
        return min(cost(ofNaming: limits.watchedUsers), most) - min(cost(ofNaming: members), most)
    }

    private static func cost(ofNaming users: Int) -> Int { 1 + users / 40 }

    public struct Hello: Hashable, Sendable {
        public var token: ByteString
        /// May be omitted if the token names the device.
        public var device: DeviceID?
        public var state: DeviceState
        /// The user of the client's last session. A worker refuses a token of another one.
        public var user: UserID?

        public init(token: ByteString, device: DeviceID?, state: DeviceState = .active, user: UserID? = nil) {
            self.token = token
            self.device = device
            self.state = state
            self.user = user
        }
    }
}

/// A client's message, with an optional id for the answer.
public struct ClientRequest: Hashable, Sendable {
    /// Returned in the `ack` or `error` that answers the message. Without an id there is no `ack`.
    public var id: MessageID?
    public var message: ClientMessage

    public init(_ message: ClientMessage, id: MessageID? = nil) {
        self.message = message
        self.id = id
    }
}

/// A client's own id for one of its messages: a JSON string of at most 64 bytes, or a number.
public enum MessageID: Hashable, Sendable {
    case text(ByteString)
    case integer(Int64)
    case number(Double)

    public static let maximumBytes = 64
}

extension MessageID: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        if json.isNumber {
            self = try Self.number(json)
        } else {
            let text = try json.text()
            guard text.utf8.count <= Self.maximumBytes else { throw UnexpectedJSON("an id has at most 64 bytes") }
            self = .text(text)
        }
    }

    private static func number(_ json: JSONValue) throws(UnexpectedJSON) -> MessageID {
        if let integer = json.wholeNumber { return .integer(integer) }
        let number = try json.number()
        // Reading so large a number loses its fraction. What is left would be returned as an integer, so it is one.
        return Int64(exactly: number).map(Self.integer) ?? .number(number)
    }

    package func write(to json: inout JSONWriter) {
        switch self {
        case .text(let text): json.text(text.string)
        case .integer(let integer): json.integer(integer)
        case .number(let number): json.number(number)
        }
    }
}
