// The answer to a message that did not take effect.

/// Why a message did not take effect. The session goes on.
public struct MessageError: Error, Hashable, Sendable {
    /// Stable: programs match on it.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// A field is missing or wrong.
        case badRequest = "bad_request"
        /// The `type` is not one that this worker knows.
        case unknownType = "unknown_type"
        /// Typing was signalled in a conversation that the session has not joined.
        case notJoined = "not_joined"
        /// The conversation has members, and the user is none of them.
        case notAMember = "not_a_member"
        /// The session would hold more than one of the limits in `welcome` allows.
        case limit
        /// Redis is away; the same message may succeed later.
        case unavailable
    }

    public var code: Code
    /// The `id` of the message that failed, if it had one.
    public var id: MessageID?
    /// A sentence for a person.
    public var message: String

    /// Whether the same message may succeed later.
    public var retry: Bool { code == .unavailable }

    public init(code: Code, id: MessageID?, message: String) {
        self.code = code
        self.id = id
        self.message = message
    }
}

extension MessageError: Codable {
    enum CodingKeys: String, CodingKey {
        case id, code, message, retry
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            code: try fields.decode(Code.self, forKey: .code),
            id: try fields.decodeIfPresent(MessageID.self, forKey: .id),
            message: try fields.decode(String.self, forKey: .message))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(id, forKey: .id)
        try fields.encode(code, forKey: .code)
        try fields.encode(message, forKey: .message)
        try fields.encode(retry, forKey: .retry)
    }
}
