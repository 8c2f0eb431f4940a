// Reads and writes the content of workers' messages. A message writes its type together with its fields, since all are
// in alphabetical order.

extension ServerMessage.Welcome: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            user: try json.field("user"), device: try json.field("device"), session: try json.field("session"),
            worker: try json.field("worker"), time: try json.field("time"), ping: try json.field("ping"),
            typing: try json.field("typing"), limits: try json.field("limits"), reconnect: try json.field("reconnect"),
            coalesce: try (json.field("presence") as Times).coalesce, join: try? json.field("join"),
            watch: try? json.field("watch"))
    }

    /// How presence is shown.
    private struct Times: JSONReadable, JSONWritable {
        let coalesce: Int64

        init(coalesce: Int64) { self.coalesce = coalesce }
        init(json: JSONValue) throws(UnexpectedJSON) { coalesce = try json.field("coalesce") }
        func write(to json: inout JSONWriter) { json.object { $0.field("coalesce", coalesce) } }
    }

    func writeFields(to json: inout JSONWriter) {
        json.field("device", device)
        json.optionalField("join", join)
        json.field("limits", limits)
        json.field("ping", ping)
        json.field("presence", Times(coalesce: coalesce))
        json.field("reconnect", reconnect)
        json.field("session", session)
        json.field("time", time)
        json.field("type", ServerMessage.Kind.welcome)
        json.field("typing", typing)
        json.field("user", user)
        json.optionalField("watch", watch)
        json.field("worker", worker)
    }
}

extension ServerMessage.TypingTimes: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(expiry: try json.field("expiry"), throttle: try json.field("throttle"))
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.field("expiry", expiry)
            $0.field("throttle", throttle)
        }
    }
}

extension ServerMessage.Limits: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            watchedUsers: try json.field("watched_users"),
            joinedConversations: try json.field("joined_conversations"),
            messageBytes: try json.field("message_bytes"), messageRate: try json.field("message_rate"),
            messageBurst: try json.field("message_burst"),
            enteredConversations: try json.field("entered_conversations"), hereData: try json.field("here_data"))
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.field("entered_conversations", enteredConversations)
            $0.field("here_data", hereData)
            $0.field("joined_conversations", joinedConversations)
            $0.field("message_burst", messageBurst)
            $0.field("message_bytes", messageBytes)
            $0.field("message_rate", messageRate)
            $0.field("watched_users", watchedUsers)
        }
    }
}

extension ServerMessage.Typing: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            conversation: try json.field("conversation"), users: try json.field("users"),
            count: try json.field("count"))
    }

    func writeFields(to json: inout JSONWriter) {
        json.field("conversation", conversation)
        json.field("count", count)
        json.field("type", ServerMessage.Kind.typing)
        json.field("users", users)
    }
}

extension TypingKind {
    /// Reads the field `kind`. Without one, and with a word of a later version, it is typing.
    package init(fieldOf json: JSONValue) throws(UnexpectedJSON) {
        let word: ByteString? = try json.optionalField("kind")
        self = word.flatMap(Self.init(word:)) ?? .typing
    }

    /// The word for it, unless it is typing, which goes without saying.
    package var word: String? { self == .typing ? nil : rawValue }

    /// - Parameter word: as Redis has it.
    package init(stored word: ByteString?) { self = word.flatMap(Self.init(word:)) ?? .typing }
}

extension Typist: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let name: ByteString? = try json.optionalField("name")
        self.init(user: try json.field("user"), name: name?.string, kind: try .init(fieldOf: json))
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.optionalField("kind", kind.word)
            $0.optionalField("name", name)
            $0.field("user", user)
        }
    }
}

extension ServerMessage.Here: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            conversation: try json.field("conversation"), users: try json.field("users"),
            count: try json.field("count"))
    }

    func writeFields(to json: inout JSONWriter) {
        json.field("conversation", conversation)
        json.field("count", count)
        json.field("type", ServerMessage.Kind.here)
        json.field("users", users)
    }
}

extension ServerMessage.Members: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            conversation: try json.field("conversation"), users: try json.field("users"),
            count: try json.field("count"))
    }

    func writeFields(to json: inout JSONWriter) {
        json.field("conversation", conversation)
        json.field("count", count)
        json.field("type", ServerMessage.Kind.members)
        json.field("users", users)
    }
}

extension ServerMessage.Member: JSONReadable, JSONWritable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(user: try json.field("user"), name: try json.optionalField("name"))
    }

    package func write(to json: inout JSONWriter) {
        json.object {
            $0.optionalField("name", name)
            $0.field("user", user)
        }
    }
}

extension MessageError: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            code: try json.field("code"), id: try json.optionalField("id"),
            message: (try json.field("message") as ByteString).string,
            retry: try json.optionalField("retry"))
    }

    func writeFields(to json: inout JSONWriter) {
        json.field("code", code)
        json.optionalField("id", id)
        json.field("message", message)
        json.field("retry", retry)
        json.field("type", ServerMessage.Kind.error)
    }
}

extension MessageError.Code: JSONReadable, JSONWritable {}

extension ServerMessage.Goodbye: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            reason: try json.field("reason"), reconnect: try json.field("reconnect"),
            after: try json.optionalField("after"), to: try json.optionalField("to"))
    }

    func writeFields(to json: inout JSONWriter) {
        json.optionalField("after", after)
        json.field("reason", reason)
        json.field("reconnect", reconnect)
        json.optionalField("to", to)
        json.field("type", ServerMessage.Kind.goodbye)
    }
}

extension GoodbyeReason: JSONReadable, JSONWritable {}
