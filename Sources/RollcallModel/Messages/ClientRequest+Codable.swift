// Reading and writing what clients say. Unknown fields are ignored, so that old workers understand new clients.

extension ClientRequest: Codable {
    enum CodingKeys: String, CodingKey {
        case type, id, token, device, state, users, conversation, presence, typing
    }

    fileprivate enum Kind: String {
        case hello, token, state, watch, unwatch, get, join, leave, typing, ping, goodbye
    }

    /// - Throws: ``MessageError`` for an object that is no message, carrying its `id` if it has a readable one.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        var id: MessageID?
        do {
            id = try fields.decodeIfPresent(MessageID.self, forKey: .id)
            let name = try fields.decode(String.self, forKey: .type)
            guard let kind = Kind(rawValue: name) else {
                throw MessageError(
                    code: .unknownType, id: id, message: "there is no message type \"\(name.prefix(64))\"")
            }
            self.init(try ClientMessage(kind: kind, fields: fields), id: id)
        } catch let error as DecodingError {
            throw MessageError(code: .badRequest, id: id, message: error.explanation)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(id, forKey: .id)
        try message.encode(to: &fields)
    }
}

extension ClientMessage {
    fileprivate typealias Fields = KeyedDecodingContainer<ClientRequest.CodingKeys>

    fileprivate init(kind: ClientRequest.Kind, fields: Fields) throws {
        switch kind {
        case .hello:
            self = .hello(
                Hello(
                    token: try fields.decode(String.self, forKey: .token),
                    device: try fields.decodeIfPresent(DeviceID.self, forKey: .device),
                    state: try fields.decodeIfPresent(DeviceState.self, forKey: .state) ?? .active))
        case .token: self = .token(try fields.decode(String.self, forKey: .token))
        case .state: self = .state(try fields.decode(DeviceState.self, forKey: .state))
        case .watch: self = .watch(try fields.decode([UserID].self, forKey: .users))
        case .unwatch: self = .unwatch(try fields.decode([UserID].self, forKey: .users))
        case .get: self = .get(try fields.decode([UserID].self, forKey: .users))
        case .join:
            self = .join(
                try fields.decode(ConversationID.self, forKey: .conversation),
                presence: try fields.decodeIfPresent(Bool.self, forKey: .presence) ?? false)
        case .leave: self = .leave(try fields.decode(ConversationID.self, forKey: .conversation))
        case .typing:
            self = .typing(
                try fields.decode(ConversationID.self, forKey: .conversation),
                try fields.decode(Bool.self, forKey: .typing))
        case .ping: self = .ping
        case .goodbye: self = .goodbye
        }
    }

    fileprivate func encode(to fields: inout KeyedEncodingContainer<ClientRequest.CodingKeys>) throws {
        func type(_ kind: ClientRequest.Kind) throws { try fields.encode(kind.rawValue, forKey: .type) }
        switch self {
        case .hello(let hello):
            try type(.hello)
            try fields.encode(hello.token, forKey: .token)
            try fields.encodeIfPresent(hello.device, forKey: .device)
            try fields.encode(hello.state, forKey: .state)
        case .token(let token):
            try type(.token)
            try fields.encode(token, forKey: .token)
        case .state(let state):
            try type(.state)
            try fields.encode(state, forKey: .state)
        case .watch(let users):
            try type(.watch)
            try fields.encode(users, forKey: .users)
        case .unwatch(let users):
            try type(.unwatch)
            try fields.encode(users, forKey: .users)
        case .get(let users):
            try type(.get)
            try fields.encode(users, forKey: .users)
        case .join(let conversation, let presence):
            try type(.join)
            try fields.encode(conversation, forKey: .conversation)
            if presence { try fields.encode(true, forKey: .presence) }
        case .leave(let conversation):
            try type(.leave)
            try fields.encode(conversation, forKey: .conversation)
        case .typing(let conversation, let typing):
            try type(.typing)
            try fields.encode(conversation, forKey: .conversation)
            try fields.encode(typing, forKey: .typing)
        case .ping: try type(.ping)
        case .goodbye: try type(.goodbye)
        }
    }
}

extension DecodingError {
    /// What is wrong, as a sentence that names the field.
    fileprivate var explanation: String {
        switch self {
        case .keyNotFound(let key, _): "the field \"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.first.map { "the field \"\($0.stringValue)\" is wrong: \(context.debugDescription)" }
                ?? context.debugDescription
        @unknown default: "the message could not be read"
        }
    }
}
