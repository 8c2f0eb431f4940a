// What other users see of a user, and the rule that derives it from the user's devices.

/// The state that a device reports.
public enum DeviceState: String, Hashable, Sendable, Codable, CaseIterable {
    /// In use.
    case active
    /// In the foreground, but without input for a while.
    case idle
    /// Connected, with the app in the background.
    case background
}

/// What other users see of a user.
public enum PresenceStatus: String, Hashable, Sendable, Codable, CaseIterable {
    case online
    case away
    case offline
}

extension PresenceStatus {
    /// Derives the status from the states of all devices, in any order: `online` if any is `active`; otherwise `away`
    /// if any is `idle`; otherwise (only `background`, or none) `offline`.
    public init(of devices: some Sequence<DeviceState>) {
        self = .offline
        for device in devices { add(device) }
    }

    /// Adds the state of another device; `nil` if the device is gone.
    package mutating func add(_ device: DeviceState?) {
        switch (device, self) {
        case (.active, _): self = .online
        case (.idle, .offline): self = .away
        case (.idle, .online), (.idle, .away), (.background, _), (nil, _): break
        }
    }
}

/// A user's presence at one version.
public struct Presence: Hashable, Sendable {
    public var user: UserID
    public var status: PresenceStatus
    /// The latest moment at which one of the user's devices was active or idle; `nil` for a user who was never seen.
    /// While ``status`` is not `offline`, read it as now.
    public var lastSeen: Timestamp?
    /// When a device that is or was active or idle last changed; `nil` for a user who was never seen. Devices in the
    /// background do not move it.
    public var updatedAt: Timestamp?
    /// Grows with each such change, also after a loss of Redis's data; 0 for a user who was never seen.
    public var version: Int64
    /// What the user's sign-in says of them.
    public var profile = Profile()
    /// Nearly nobody says anything: so it takes little room.
    private var boxed: BoxedWords?
    /// What the user says of themselves; `nil` if nothing, or for a user who was never seen.
    package var words: PersonWords? {
        get { if case .some(.words(let words)) = boxed { words } else { nil } }
        set { boxed = newValue.map { .words($0) } }
    }

    /// The user's name for people, as their sign-in knows it; `nil` if it says none, or for a user who was never seen.
    public var name: String? { profile.name?.string }

    /// Whether the user wants to be left alone: `busy` or `dnd`, whatever the ``status``. Never ``Availability/invisible``.
    public var availability: Availability? { words?.availability }
    /// What the user says of themselves, where the app allows it; nobody may have moderated it.
    public var text: String? { words?.text?.string }
    public var emoji: String? { words?.emoji?.string }
    /// When these three end, on the server's clock; `nil` if that is open.
    public var until: Timestamp? { words?.until }

    public init(
        user: UserID, status: PresenceStatus, lastSeen: Timestamp?, updatedAt: Timestamp?, version: Int64,
        profile: Profile = Profile()
    ) {
        self.profile = profile
        self.user = user
        self.status = status
        self.lastSeen = lastSeen
        self.updatedAt = updatedAt
        self.version = version
    }

    /// Whether observers see a difference to `other`: another status, another profile or, while offline, another last seen time.
    /// Version and time of change are not visible.
    public func looksDifferent(from other: Presence) -> Bool { look != other.look }

    /// The part of the presence that observers see.
    public var look: Look {
        Look(
            status: status, isTimeless: isTimeless, lastSeen: status == .offline ? lastSeen : nil,
            profile: profile, boxed: boxed)
    }

    /// Whether the user was never seen on any device.
    package var isNeverSeen: Bool { status == .offline && lastSeen == nil }

    /// Whether the user is offline and was seen, and does not say when.
    package var isTimeless: Bool { isNeverSeen && version > 0 }

    public struct Look: Hashable, Sendable {
        let status: PresenceStatus
        /// Whether the user is offline and was seen, without a time.
        let isTimeless: Bool
        /// `nil` unless the user is offline.
        let lastSeen: Timestamp?
        let profile: Profile
        fileprivate let boxed: BoxedWords?
    }

    fileprivate indirect enum BoxedWords: Hashable, Sendable { case words(PersonWords) }
}

/// What users say of themselves besides being there.
package struct PersonWords: Hashable, Sendable {
    /// Never ``Availability/invisible``.
    package var availability: Availability?
    package var text: ByteString?
    package var emoji: ByteString?
    /// When all of it ends, in Redis time; `nil` if that is open.
    package var until: Timestamp?

    /// What is left of a person's words at this moment; `nil` if nothing is.
    package init?(of person: Person, at time: Timestamp) {
        let person = person.current(at: time)
        availability = person.availability == .invisible ? nil : person.availability
        (text, emoji, until) = (person[.text], person[.emoji], person.until)
        if availability == nil, text == nil, emoji == nil { return nil }
    }
}

extension PersonWords {
    /// - Returns: `nil` if the object has none of it.
    fileprivate init?(in json: JSONValue) {
        availability = try? json.optionalField("availability")
        (text, emoji) = (try? json.optionalField("text"), try? json.optionalField("emoji"))
        until = try? json.optionalField("until")
        if availability == nil, text == nil, emoji == nil { return nil }
    }

    /// The fields, in JSON's order of names.
    fileprivate enum CodingKeys: String, CodingKey { case availability, text, emoji, until }

    fileprivate init?(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        availability = try? container.decode(Availability.self, forKey: .availability)
        text = (try? container.decode(String.self, forKey: .text)).map(ByteString.init)
        emoji = (try? container.decode(String.self, forKey: .emoji)).map(ByteString.init)
        until = try? container.decode(Timestamp.self, forKey: .until)
        if availability == nil, text == nil, emoji == nil { return nil }
    }

    fileprivate func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(availability, forKey: .availability)
        try container.encodeIfPresent(text?.string, forKey: .text)
        try container.encodeIfPresent(emoji?.string, forKey: .emoji)
        try container.encodeIfPresent(until, forKey: .until)
    }
}

extension Presence: Codable {
    enum CodingKeys: String, CodingKey {
        case user, status
        case lastSeen = "last_seen"
        case updatedAt = "updated_at"
        case version
    }

    /// Reads a presence. An unknown status, from a later version, counts as `offline`; the other fields count.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let status = ByteString(try container.decode(String.self, forKey: .status))
        self.init(
            user: try container.decode(UserID.self, forKey: .user),
            status: PresenceStatus(word: status) ?? .offline,
            lastSeen: try container.decodeIfPresent(Timestamp.self, forKey: .lastSeen),
            updatedAt: try container.decodeIfPresent(Timestamp.self, forKey: .updatedAt),
            version: try container.decode(Int64.self, forKey: .version),
            profile: try Profile(from: decoder))
        words = try PersonWords(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(user, forKey: .user)
        try container.encode(status, forKey: .status)
        // For a user who was never seen, this writes `null`, so that the field is always there.
        try container.encode(lastSeen, forKey: .lastSeen)
        try container.encode(updatedAt, forKey: .updatedAt)
        try container.encode(version, forKey: .version)
        try profile.encode(to: encoder)
        try words?.encode(to: encoder)
    }
}

// MARK: JSON

// A user's presence in messages and in what workers publish.

extension Presence: JSONReadable {
    /// Reads a presence. An unknown status, from a later version, counts as `offline`; the other fields count.
    package init(json: JSONValue) throws(UnexpectedJSON) {
        try self.init(published: json)
        words = PersonWords(in: json)
    }

    /// Reads a presence in what the scripts publish, which never has words.
    init(published json: JSONValue) throws(UnexpectedJSON) {
        let status: ByteString = try json.field("status")
        self.init(
            user: try json.field("user"), status: PresenceStatus(word: status) ?? .offline,
            lastSeen: try json.optionalField("last_seen"), updatedAt: try json.optionalField("updated_at"),
            version: try json.field("version"), profile: Profile(in: json))
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
            profile.write(to: &$0)
            guard let words else { return }
            $0.optionalField("availability", words.availability)
            $0.optionalField("emoji", words.emoji)
            $0.optionalField("text", words.text)
            $0.optionalField("until", words.until)
        }
    }
}
