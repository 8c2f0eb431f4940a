// What is published in Redis: one JSON object a message, on the channel named as the key whose change it tells.

/// On `typing:{CONVERSATION}`: whether this user types there now.
public struct TypingChange: Hashable, Sendable {
    public var user: UserID
    public var typing: Bool
    /// Milliseconds from ``at`` until the typing ends unless it is renewed; absent where it has ended.
    public var expiresIn: Int64?
    public var at: Timestamp
    /// The display name that the conversation's members have for the user, if they have one and the user types; so
    /// that whoever shows it need not keep the members' names.
    public var name: String?

    public init(user: UserID, typing: Bool, expiresIn: Int64?, at: Timestamp, name: String? = nil) {
        self.user = user
        self.typing = typing
        self.expiresIn = expiresIn
        self.at = at
        self.name = name
    }
}

extension TypingChange: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        self.init(
            user: try json.field("user"), typing: try json.field("typing"),
            expiresIn: try json.optionalField("expires_in"), at: try json.field("at"),
            name: try json.optionalField("name"))
    }
}

/// On `presence:{USER}`: what became of the user.
public struct PresenceChange: Hashable, Sendable {
    public var presence: Presence

    public init(_ presence: Presence) {
        self.presence = presence
    }
}

extension PresenceChange: JSONReadable {
    /// - Throws: also for a status that only a later version knows. Whoever meets it reads the record, whose devices add
    ///   up to a status that this version knows.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        presence = try Presence(json: json)
        presence.status = try json.field("status")
    }
}

/// On `members:{CONVERSATION}`: one member came, changed name or went, or the whole list was replaced. The count is of all
/// who are members since; workers of an earlier version do not say it.
public enum MemberChange: Hashable, Sendable {
    case member(UserID, name: String, count: Int?)
    case removed(UserID, count: Int?)
    case reset
}

extension MemberChange: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        if try json.optionalField("reset") == true {
            self = .reset
            return
        }
        let user: UserID = try json.field("user")
        let count: Int? = try json.optionalField("count")
        if try json.field("member") {
            self = .member(user, name: try json.optionalField("name") ?? "", count: count)
        } else {
            self = .removed(user, count: count)
        }
    }
}
