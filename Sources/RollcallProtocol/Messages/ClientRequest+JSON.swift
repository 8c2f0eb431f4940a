// Reads and writes clients' messages. Unknown fields are ignored, so that old workers understand new clients.

extension ClientRequest {
    fileprivate enum Kind: String, JSONWritable {
        case hello, token, state, watch, unwatch, get, join, leave, enter, exit, typing, person, ping, goodbye
    }

    /// - Throws: ``MessageError`` for an object that is not a valid message, with its `id` if that is readable.
    init(json: JSONValue) throws {
        var id: MessageID?
        do {
            id = try json.optionalField("id")
            let name: ByteString = try json.field("type")
            guard let kind = Kind(word: name) else {
                throw MessageError(
                    code: .unknownType, id: id, message: "there is no message type \"\(name.excerpt)\"")
            }
            self.init(try ClientMessage(kind, json), id: id)
        } catch let error as UnexpectedJSON {
            throw MessageError(code: .badRequest, id: id, message: error.description)
        }
    }
}

extension ClientMessage {
    fileprivate init(_ kind: ClientRequest.Kind, _ json: JSONValue) throws(UnexpectedJSON) {
        switch kind {
        case .hello: self = .hello(try Hello(json: json))
        case .token: self = .token(try json.field("token"))
        case .state: self = .state(try json.field("state"))
        case .watch: self = .watch(try json.field("users"))
        case .unwatch: self = .unwatch(try json.field("users"))
        case .get: self = .get(try json.field("users"))
        case .join:
            self = .join(
                try json.field("conversation"), presence: try json.optionalField("presence") ?? false,
                here: try json.optionalField("here") ?? false)
        case .leave: self = .leave(try json.field("conversation"))
        case .enter: self = .enter(try json.field("conversation"), data: try json.optionalField("data"))
        case .exit: self = .exit(try json.field("conversation"))
        case .typing:
            self = .typing(
                try json.field("conversation"), try json.field("typing"), kind: try .init(fieldOf: json))
        case .person: self = .person(try PersonPatch(json: json))
        case .ping: self = .ping
        case .goodbye: self = .goodbye
        }
    }
}

extension ClientMessage.Hello: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            token: try json.field("token"), device: try json.optionalField("device"),
            state: try json.optionalField("state") ?? .active, user: try json.optionalField("user"))
    }
}

extension ClientRequest: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object { json in
            switch message {
            case .hello(let hello): write(hello, to: &json)
            case .token(let token):
                json.optionalField("id", id)
                json.field("token", token)
                json.field("type", Kind.token)
            case .state(let state):
                json.optionalField("id", id)
                json.field("state", state)
                json.field("type", Kind.state)
            case .watch(let users): write(.watch, of: users, to: &json)
            case .unwatch(let users): write(.unwatch, of: users, to: &json)
            case .get(let users): write(.get, of: users, to: &json)
            case .join(let conversation, let presence, let here):
                json.field("conversation", conversation)
                json.optionalField("here", here ? true : nil)
                json.optionalField("id", id)
                json.optionalField("presence", presence ? true : nil)
                json.field("type", Kind.join)
            case .leave(let conversation): write(.leave, in: conversation, to: &json)
            case .enter(let conversation, let data):
                json.field("conversation", conversation)
                json.optionalField("data", data)
                json.optionalField("id", id)
                json.field("type", Kind.enter)
            case .exit(let conversation): write(.exit, in: conversation, to: &json)
            case .typing(let conversation, let typing, let kind):
                json.field("conversation", conversation)
                json.optionalField("id", id)
                json.optionalField("kind", kind.word)
                json.field("type", Kind.typing)
                json.field("typing", typing)
            case .person(let patch):
                json.optionalField("id", id)
                json.field("type", Kind.person)
                patch.writeFields(to: &json)
            case .ping: write(.ping, to: &json)
            case .goodbye: write(.goodbye, to: &json)
            }
        }
    }

    private func write(_ hello: ClientMessage.Hello, to json: inout JSONWriter) {
        json.optionalField("device", hello.device)
        json.optionalField("id", id)
        json.field("state", hello.state)
        json.field("token", hello.token)
        json.field("type", Kind.hello)
        json.optionalField("user", hello.user)
    }

    private func write(_ kind: Kind, in conversation: ConversationID, to json: inout JSONWriter) {
        json.field("conversation", conversation)
        json.optionalField("id", id)
        json.field("type", kind)
    }

    private func write(_ kind: Kind, of users: [UserID]? = nil, to json: inout JSONWriter) {
        json.optionalField("id", id)
        json.field("type", kind)
        json.optionalField("users", users)
    }
}
