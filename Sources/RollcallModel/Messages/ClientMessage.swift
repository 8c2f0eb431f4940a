// What a client may say: one JSON object a text frame.

/// A message from a client to its worker.
public enum ClientMessage: Hashable, Sendable {
    /// First, and once: who is calling, from which device, in which state.
    case hello(Hello)
    /// A fresh token for the same user and device.
    case token(String)
    case state(DeviceState)
    /// Presence of these users from now on: a snapshot, then changes.
    case watch([UserID])
    case unwatch([UserID])
    /// Presence of these users once.
    case get([UserID])
    /// Typing in this conversation from now on; with `presence` its members' presence too.
    case join(ConversationID, presence: Bool)
    /// The end of ``join(_:presence:)``, and of one's own typing there.
    case leave(ConversationID)
    /// The person types there (repeated while it is so), or has stopped.
    case typing(ConversationID, Bool)
    case ping
    /// A clean end: the device is gone at once, without grace.
    case goodbye

    public struct Hello: Hashable, Sendable {
        public var token: String
        /// May be missing where the token names the device.
        public var device: DeviceID?
        public var state: DeviceState

        public init(token: String, device: DeviceID?, state: DeviceState = .active) {
            self.token = token
            self.device = device
            self.state = state
        }
    }
}

/// A client's message with the name under which it wants its answer.
public struct ClientRequest: Hashable, Sendable {
    /// Given back in the `ack` or `error` that answers; without one there is no `ack`.
    public var id: MessageID?
    public var message: ClientMessage

    public init(_ message: ClientMessage, id: MessageID? = nil) {
        self.message = message
        self.id = id
    }
}

/// A client's own name for one of its messages: a JSON string or number of at most 64 bytes.
public enum MessageID: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case number(Double)

    public static let maximumBytes = 64

    /// Texts are compared by their bytes, as a client gets them back.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): TextBytes.areSame(left, right)
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.text, _), (.integer, _), (.number, _): false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): TextBytes.combine(text, into: &hasher)
        case .integer(let integer): hasher.combine(integer)
        case .number(let number): hasher.combine(number)
        }
    }
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
        // So large, a fraction is lost in reading: what is left would be given back as a whole number.
        return Int64(exactly: number).map(Self.integer) ?? .number(number)
    }

    package func write(to json: inout JSONWriter) {
        switch self {
        case .text(let text): json.text(text)
        case .integer(let integer): json.integer(integer)
        case .number(let number): json.number(number)
        }
    }
}
