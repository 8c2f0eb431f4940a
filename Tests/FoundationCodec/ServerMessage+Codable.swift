// The JSON of worker messages, described for Foundation.

public import RollcallModel

extension ServerMessage: Codable {
    enum CodingKeys: String, CodingKey {
        case type, id, users, conversation, time
    }

    private enum Kind: String, Codable {
        case welcome, presence, typing, members, removed, pong, ack, error, goodbye
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        switch try fields.decode(Kind.self, forKey: .type) {
        case .welcome: self = .welcome(try Welcome(from: decoder))
        case .presence:
            self = .presence(
                try fields.decode([Presence].self, forKey: .users),
                id: try fields.decodeIfPresent(MessageID.self, forKey: .id))
        case .typing: self = .typing(try Typing(from: decoder))
        case .members: self = .members(try Members(from: decoder))
        case .removed: self = .removed(try fields.decode(ConversationID.self, forKey: .conversation))
        case .pong: self = .pong(time: try fields.decode(Timestamp.self, forKey: .time))
        case .ack: self = .ack(try fields.decode(MessageID.self, forKey: .id))
        case .error: self = .error(try MessageError(from: decoder))
        case .goodbye: self = .goodbye(try Goodbye(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        func type(_ kind: Kind) throws { try fields.encode(kind, forKey: .type) }
        switch self {
        case .welcome(let welcome):
            try type(.welcome)
            try welcome.encode(to: encoder)
        case .presence(let users, let id):
            try type(.presence)
            try fields.encodeIfPresent(id, forKey: .id)
            try fields.encode(users, forKey: .users)
        case .typing(let typing):
            try type(.typing)
            try typing.encode(to: encoder)
        case .members(let members):
            try type(.members)
            try members.encode(to: encoder)
        case .removed(let conversation):
            try type(.removed)
            try fields.encode(conversation, forKey: .conversation)
        case .pong(let time):
            try type(.pong)
            try fields.encode(time, forKey: .time)
        case .ack(let id):
            try type(.ack)
            try fields.encode(id, forKey: .id)
        case .error(let error):
            try type(.error)
            try error.encode(to: encoder)
        case .goodbye(let goodbye):
            try type(.goodbye)
            try goodbye.encode(to: encoder)
        }
    }
}
