// Reads and writes workers' messages. Their fields are in ServerMessage+Content.swift.

extension ServerMessage: JSONReadable {
    enum Kind: String, JSONReadable, JSONWritable {
        case welcome, presence, typing, members, here, removed, person, pong, ack, error, goodbye
    }

    /// - Throws: also for an unknown type. Clients skip such messages, which come from newer workers.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let kind: Kind = try json.field("type")
        switch kind {
        case .welcome: self = .welcome(try Welcome(json: json))
        case .presence: self = .presence(try json.field("users"), id: try json.optionalField("id"))
        case .typing: self = .typing(try Typing(json: json))
        case .members: self = .members(try Members(json: json))
        case .here: self = .here(try Here(json: json))
        case .removed: self = .removed(try json.field("conversation"))
        case .person: self = .person(try Person(settings: json, revision: try json.field("revision")))
        case .pong: self = .pong(time: try json.field("time"))
        case .ack: self = .ack(try json.field("id"))
        case .error: self = .error(try MessageError(json: json))
        case .goodbye: self = .goodbye(try Goodbye(json: json))
        }
    }
}

extension ServerMessage: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object { json in
            switch self {
            case .welcome(let welcome): welcome.writeFields(to: &json)
            case .presence(let users, let id):
                json.optionalField("id", id)
                json.field("type", Kind.presence)
                json.field("users", users)
            case .typing(let typing): typing.writeFields(to: &json)
            case .members(let members): members.writeFields(to: &json)
            case .here(let here): here.writeFields(to: &json)
            case .removed(let conversation):
                json.field("conversation", conversation)
                json.field("type", Kind.removed)
            case .person(let person):
                json.field("revision", person.revision)
                json.field("type", Kind.person)
                person.writeSettings(to: &json)
            case .pong(let time):
                json.field("time", time)
                json.field("type", Kind.pong)
            case .ack(let id):
                json.field("id", id)
                json.field("type", Kind.ack)
            case .error(let error): error.writeFields(to: &json)
            case .goodbye(let goodbye): goodbye.writeFields(to: &json)
            }
        }
    }
}
