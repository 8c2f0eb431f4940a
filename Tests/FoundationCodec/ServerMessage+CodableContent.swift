// The parts of worker messages, described for Foundation.

public import RollcallModel

extension ServerMessage.Welcome: Codable {
    private enum Key: String, CodingKey {
        case user, device, session, worker, time, ping, typing, limits
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            user: try fields.decode(UserID.self, forKey: .user),
            device: try fields.decode(DeviceID.self, forKey: .device),
            session: try fields.decode(ByteString.self, forKey: .session),
            worker: try fields.decode(ByteString.self, forKey: .worker),
            time: try fields.decode(Timestamp.self, forKey: .time),
            ping: try fields.decode(Int64.self, forKey: .ping),
            typing: try fields.decode(ServerMessage.TypingTimes.self, forKey: .typing),
            limits: try fields.decode(ServerMessage.Limits.self, forKey: .limits))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(user, forKey: .user)
        try fields.encode(device, forKey: .device)
        try fields.encode(session, forKey: .session)
        try fields.encode(worker, forKey: .worker)
        try fields.encode(time, forKey: .time)
        try fields.encode(ping, forKey: .ping)
        try fields.encode(typing, forKey: .typing)
        try fields.encode(limits, forKey: .limits)
    }
}

extension ServerMessage.TypingTimes: Codable {
    private enum Key: String, CodingKey {
        case expiry, throttle
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            expiry: try fields.decode(Int64.self, forKey: .expiry),
            throttle: try fields.decode(Int64.self, forKey: .throttle))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(expiry, forKey: .expiry)
        try fields.encode(throttle, forKey: .throttle)
    }
}

extension ServerMessage.Limits: Codable {
    private enum Key: String, CodingKey {
        case watchedUsers = "watched_users"
        case joinedConversations = "joined_conversations"
        case messageBytes = "message_bytes"
        case messageRate = "message_rate"
        case messageBurst = "message_burst"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            watchedUsers: try fields.decode(Int.self, forKey: .watchedUsers),
            joinedConversations: try fields.decode(Int.self, forKey: .joinedConversations),
            messageBytes: try fields.decode(Int.self, forKey: .messageBytes),
            messageRate: try fields.decode(Int.self, forKey: .messageRate),
            messageBurst: try fields.decode(Int.self, forKey: .messageBurst))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(watchedUsers, forKey: .watchedUsers)
        try fields.encode(joinedConversations, forKey: .joinedConversations)
        try fields.encode(messageBytes, forKey: .messageBytes)
        try fields.encode(messageRate, forKey: .messageRate)
        try fields.encode(messageBurst, forKey: .messageBurst)
    }
}

extension ServerMessage.Typing: Codable {
    private enum Key: String, CodingKey {
        case conversation, users, count
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            conversation: try fields.decode(ConversationID.self, forKey: .conversation),
            users: try fields.decode([Typist].self, forKey: .users),
            count: try fields.decode(Int.self, forKey: .count))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(conversation, forKey: .conversation)
        try fields.encode(users, forKey: .users)
        try fields.encode(count, forKey: .count)
    }
}

extension ServerMessage.Members: Codable {
    private enum Key: String, CodingKey {
        case conversation, users, count
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            conversation: try fields.decode(ConversationID.self, forKey: .conversation),
            users: try fields.decode([ServerMessage.Member].self, forKey: .users),
            count: try fields.decode(Int.self, forKey: .count))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(conversation, forKey: .conversation)
        try fields.encode(users, forKey: .users)
        try fields.encode(count, forKey: .count)
    }
}

extension ServerMessage.Member: Codable {
    private enum Key: String, CodingKey {
        case user, name
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            user: try fields.decode(UserID.self, forKey: .user),
            name: try fields.decodeIfPresent(ByteString.self, forKey: .name))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(user, forKey: .user)
        try fields.encodeIfPresent(name, forKey: .name)
    }
}

extension ServerMessage.Goodbye: Codable {
    private enum Key: String, CodingKey {
        case reason, reconnect, after, to
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            reason: GoodbyeReason(rawValue: try fields.decode(String.self, forKey: .reason)),
            reconnect: try fields.decode(Bool.self, forKey: .reconnect),
            after: try fields.decodeIfPresent(Int64.self, forKey: .after),
            to: try fields.decodeIfPresent(ByteString.self, forKey: .to))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(reason.rawValue, forKey: .reason)
        try fields.encode(reconnect, forKey: .reconnect)
        try fields.encodeIfPresent(after, forKey: .after)
        try fields.encodeIfPresent(to, forKey: .to)
    }
}

extension MessageError: Codable {
    private enum Key: String, CodingKey {
        case code, id, message, retry
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            code: Code(rawValue: try fields.decode(String.self, forKey: .code)),
            id: try fields.decodeIfPresent(MessageID.self, forKey: .id),
            message: try fields.decode(String.self, forKey: .message),
            retry: try fields.decodeIfPresent(Bool.self, forKey: .retry))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encodeIfPresent(id, forKey: .id)
        try fields.encode(code.rawValue, forKey: .code)
        try fields.encode(message, forKey: .message)
        try fields.encode(retry, forKey: .retry)
    }
}
