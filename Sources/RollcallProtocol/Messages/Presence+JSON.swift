// A user's presence in messages and in what workers publish.

extension Presence: JSONReadable {
    /// Reads a presence. An unknown status, from a later version, counts as `offline`; the other fields count.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        let status: ByteString = try json.field("status")
        self.init(
            user: try json.field("user"), status: PresenceStatus(word: status) ?? .offline,
            lastSeen: try json.optionalField("last_seen"), updatedAt: try json.optionalField("updated_at"),
            version: try json.field("version"))
    }
}

extension Presence: JSONWritable {
    package func write(to json: inout JSONWriter) {
        json.object {
            // For a user who was never seen, this writes `null`, so that the field is always there.
            $0.field("last_seen", lastSeen)
            $0.field("status", status)
            $0.field("updated_at", updatedAt)
            $0.field("user", user)
            $0.field("version", version)
        }
    }
}
