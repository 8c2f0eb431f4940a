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

    /// The user's name for people, as their sign-in knows it; `nil` if it says none, or for a user who was never seen.
    public var name: String? { profile.name?.string }

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
    public var look: Look { Look(status: status, lastSeen: status == .offline ? lastSeen : nil, profile: profile) }

    /// Whether the user was never seen on any device.
    package var isNeverSeen: Bool { status == .offline && lastSeen == nil }

    public struct Look: Hashable, Sendable {
        let status: PresenceStatus
        /// `nil` unless the user is offline.
        let lastSeen: Timestamp?
        let profile: Profile
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
    }
}

// MARK: JSON

// A user's presence in messages and in what workers publish.

extension Presence: JSONReadable {
    /// Reads a presence. An unknown status, from a later version, counts as `offline`; the other fields count.
    package init(json: JSONValue) throws(UnexpectedJSON) {
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
        }
    }
}
