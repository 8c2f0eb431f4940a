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
}

extension MessageID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            // So large, a fraction is lost in reading: what is left would be given back as a whole number.
            self = Int64(exactly: number).map(Self.integer) ?? .number(number)
        } else {
            let text = try container.decode(String.self)
            guard text.utf8.count <= Self.maximumBytes else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "an id has at most 64 bytes")
            }
            self = .text(text)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        }
    }
}
