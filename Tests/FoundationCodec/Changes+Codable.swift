// The JSON of published changes, described for Foundation.

public import RollcallModel

extension TypingChange: Codable {
    private enum Key: String, CodingKey {
        case user, typing, at, name
        case expiresIn = "expires_in"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            user: try fields.decode(UserID.self, forKey: .user),
            typing: try fields.decode(Bool.self, forKey: .typing),
            expiresIn: try fields.decodeIfPresent(Int64.self, forKey: .expiresIn),
            at: try fields.decode(Timestamp.self, forKey: .at),
            name: try fields.decodeIfPresent(ByteString.self, forKey: .name))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(user, forKey: .user)
        try fields.encode(typing, forKey: .typing)
        try fields.encodeIfPresent(expiresIn, forKey: .expiresIn)
        try fields.encode(at, forKey: .at)
        try fields.encodeIfPresent(name, forKey: .name)
    }
}

extension PresenceChange: Decodable {
    private enum Key: String, CodingKey {
        case status
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        _ = try fields.decode(PresenceStatus.self, forKey: .status)
        self.init(try Presence(from: decoder))
    }
}

extension MemberChange: Decodable {
    private enum Key: String, CodingKey {
        case user, member, name, count, reset
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        if try fields.decodeIfPresent(Bool.self, forKey: .reset) == true {
            self = .reset
            return
        }
        let user = try fields.decode(UserID.self, forKey: .user)
        let count = try fields.decodeIfPresent(Int.self, forKey: .count)
        if try fields.decode(Bool.self, forKey: .member) {
            self = .member(user, name: try fields.decodeIfPresent(ByteString.self, forKey: .name) ?? "", count: count)
        } else {
            self = .removed(user, count: count)
        }
    }
}
