// The JSON of client messages, described for Foundation.

public import RollcallModel

extension ClientRequest: Codable {
    enum CodingKeys: String, CodingKey {
        case type, id, token, device, state, users, conversation, presence, typing
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        var id: MessageID?
        do {
            id = try fields.decodeIfPresent(MessageID.self, forKey: .id)
            let type = try fields.decode(String.self, forKey: .type)
            guard let message = try ClientMessage(type: type, fields) else {
                throw MessageError(code: .unknownType, id: id, message: type)
            }
            self.init(message, id: id)
        } catch let error as DecodingError {
            throw MessageError(code: .badRequest, id: id, message: "\(error)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(id, forKey: .id)
        try message.encode(to: &fields)
    }
}

extension ClientMessage {
    fileprivate typealias Keys = ClientRequest.CodingKeys

    fileprivate init?(type: String, _ fields: KeyedDecodingContainer<Keys>) throws {
        switch type {
        case "hello":
            self = .hello(
                Hello(
                    token: try fields.decode(ByteString.self, forKey: .token),
                    device: try fields.decodeIfPresent(DeviceID.self, forKey: .device),
                    state: try fields.decodeIfPresent(DeviceState.self, forKey: .state) ?? .active))
        case "token": self = .token(try fields.decode(ByteString.self, forKey: .token))
        case "state": self = .state(try fields.decode(DeviceState.self, forKey: .state))
        case "watch": self = .watch(try fields.decode([UserID].self, forKey: .users))
        case "unwatch": self = .unwatch(try fields.decode([UserID].self, forKey: .users))
        case "get": self = .get(try fields.decode([UserID].self, forKey: .users))
        case "join":
            self = .join(
                try fields.decode(ConversationID.self, forKey: .conversation),
                presence: try fields.decodeIfPresent(Bool.self, forKey: .presence) ?? false)
        case "leave": self = .leave(try fields.decode(ConversationID.self, forKey: .conversation))
        case "typing":
            self = .typing(
                try fields.decode(ConversationID.self, forKey: .conversation),
                try fields.decode(Bool.self, forKey: .typing))
        case "ping": self = .ping
        case "goodbye": self = .goodbye
        default: return nil
        }
    }

    fileprivate func encode(to fields: inout KeyedEncodingContainer<Keys>) throws {
        func type(_ type: String) throws { try fields.encode(type, forKey: .type) }
        switch self {
        case .hello(let hello):
            try type("hello")
            try fields.encode(hello.token, forKey: .token)
            try fields.encodeIfPresent(hello.device, forKey: .device)
            try fields.encode(hello.state, forKey: .state)
        case .token(let token):
            try type("token")
            try fields.encode(token, forKey: .token)
        case .state(let state):
            try type("state")
            try fields.encode(state, forKey: .state)
        case .watch(let users):
            try type("watch")
            try fields.encode(users, forKey: .users)
        case .unwatch(let users):
            try type("unwatch")
            try fields.encode(users, forKey: .users)
        case .get(let users):
            try type("get")
            try fields.encode(users, forKey: .users)
        case .join(let conversation, let presence):
            try type("join")
            try fields.encode(conversation, forKey: .conversation)
            if presence { try fields.encode(true, forKey: .presence) }
        case .leave(let conversation):
            try type("leave")
            try fields.encode(conversation, forKey: .conversation)
        case .typing(let conversation, let typing):
            try type("typing")
            try fields.encode(conversation, forKey: .conversation)
            try fields.encode(typing, forKey: .typing)
        case .ping: try type("ping")
        case .goodbye: try type("goodbye")
        }
    }
}

extension MessageID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = Int64(exactly: number).map(Self.integer) ?? .number(number)
        } else {
            let text = try container.decode(ByteString.self)
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
