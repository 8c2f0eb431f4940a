// What workers publish in Redis: one JSON object per message, on the channel with the name of the key that changed.

/// Published on `typing:{CONVERSATION}`: whether this user is typing there.
public struct TypingChange: Hashable, Sendable {
    public var user: UserID
    public var typing: Bool
    /// Milliseconds from ``at`` until the typing ends without renewal; absent if it has ended.
    public var expiresIn: Int64?
    public var at: Timestamp
    /// The user's display name in the conversation's member list, if the user has one and is typing. Receivers
    /// therefore need not keep the members' names.
    public var name: ByteString?
    /// Of the device that types longest.
    public var kind: TypingKind

    public init(
        user: UserID, typing: Bool, expiresIn: Int64?, at: Timestamp, name: ByteString? = nil,
        kind: TypingKind = .typing
    ) {
        self.kind = kind
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
            name: try json.optionalField("name"), kind: try .init(fieldOf: json))
    }
}

/// Published on `presence:{USER}`: the user's new presence.
public struct PresenceChange: Hashable, Sendable {
    /// The presence with the version and the time of the record. They order changes.
    public var presence: Presence
    /// The revision of the user's person; 0 if it was erased, `nil` if the record names none.
    public var person: Int64?

    public init(_ presence: Presence, person: Int64? = nil) {
        self.presence = presence
        self.person = person
    }

    /// The presence to show to observers.
    package var visible: Presence {
        var visible = presence
        visible.hideIfNeverSeen()
        return visible
    }
}

extension PresenceChange: JSONReadable {
    /// - Throws: also for an unknown status, from a later version. The receiver then reads the record, and derives a
    ///   status from its devices.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        presence = try Presence(published: json)
        presence.status = try json.field("status")
        if try json.has("person") { person = try json.optionalField("person") ?? 0 }
    }
}

/// Published on `members:{CONVERSATION}`: a member was added, renamed or removed, or the whole list was replaced. The
/// count is the number of members after the change.
public enum MemberChange: Hashable, Sendable {
    case member(UserID, name: ByteString, count: Int?)
    case removed(UserID, count: Int?)
    case reset
    /// An app's server is to be asked again about this user, or about all who were admitted.
    case ask(UserID?)
    /// Those whom the app's server named as the conversation's people are others.
    case people
}

extension MemberChange: JSONReadable {
    package init(json: JSONValue) throws(UnexpectedJSON) {
        if try json.optionalField("reset") == true {
            self = .reset
            return
        }
        if try json.has("ask") {
            self = .ask((try? json.field("ask") as Bool) == nil ? try json.field("ask") : nil)
            return
        }
        if try json.optionalField("people") == true {
            self = .people
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
