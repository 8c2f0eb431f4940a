// A user's presence, as messages and what is published have it.

extension Presence: JSONReadable {
    /// A status that only a later version knows claims nothing: it reads as `offline`, and the rest counts.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let status: String = try json.field("status")
        self.init(
            user: try json.field("user"), status: PresenceStatus(rawValue: status) ?? .offline,
            lastSeen: try json.optionalField("last_seen"), updatedAt: try json.optionalField("updated_at"),
            version: try json.field("version"))
    }
}

extension Presence: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object {
            // A user never seen has `null` here, so that a reader sees the field and its emptiness.
            $0.field("last_seen", lastSeen)
            $0.field("status", status)
            $0.field("updated_at", updatedAt)
            $0.field("user", user)
            $0.field("version", version)
        }
    }
}
