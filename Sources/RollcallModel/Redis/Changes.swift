// What is published in Redis: one JSON object a message, on the channel named as the key whose change it tells.

/// On `typing:{CONVERSATION}`: whether this user types there now.
public struct TypingChange: Hashable, Sendable, Codable {
    public var user: UserID
    public var typing: Bool
    /// Milliseconds from ``at`` until the typing ends unless it is renewed; absent where it has ended.
    public var expiresIn: Int64?
    public var at: Timestamp
    /// The display name that the conversation's members have for the user, if they have one and the user types; so
    /// that whoever shows it need not keep the members' names.
    public var name: String?

    enum CodingKeys: String, CodingKey {
        case user, typing
        case expiresIn = "expires_in"
        case at, name
    }

    public init(user: UserID, typing: Bool, expiresIn: Int64?, at: Timestamp, name: String? = nil) {
        self.user = user
        self.typing = typing
        self.expiresIn = expiresIn
        self.at = at
        self.name = name
    }
}

/// On `presence:{USER}`: what became of the user.
public struct PresenceChange: Hashable, Sendable, Decodable {
    public var presence: Presence

    public init(_ presence: Presence) {
        self.presence = presence
    }

    /// - Throws: `DecodingError` also for a status that only a later version knows. Whoever meets it reads the record,
    ///   whose devices add up to a status that this version knows.
    public init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: Presence.CodingKeys.self).decode(PresenceStatus.self, forKey: .status)
        presence = try Presence(from: decoder)
    }
}

/// On `members:{CONVERSATION}`: one member came, changed name or went, or the whole list was replaced. The count is of all
/// who are members since; workers of an earlier version do not say it.
public enum MemberChange: Hashable, Sendable, Decodable {
    case member(UserID, name: String, count: Int?)
    case removed(UserID, count: Int?)
    case reset

    enum CodingKeys: String, CodingKey {
        case user, member, name, count, reset
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if try container.decodeIfPresent(Bool.self, forKey: .reset) == true {
            self = .reset
            return
        }
        let user = try container.decode(UserID.self, forKey: .user)
        let count = try container.decodeIfPresent(Int.self, forKey: .count)
        if try container.decode(Bool.self, forKey: .member) {
            self = .member(user, name: try container.decodeIfPresent(String.self, forKey: .name) ?? "", count: count)
        } else {
            self = .removed(user, count: count)
        }
    }
}
