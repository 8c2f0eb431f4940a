// What others see of a user, and the rule that makes it out of the user's devices.

/// What a device says of itself.
public enum DeviceState: String, Hashable, Sendable, Codable, CaseIterable {
    /// In use.
    case active
    /// In the foreground, but nobody has touched it for a while.
    case idle
    /// Connected while the app is in the background.
    case background
}

/// What others see of a user.
public enum PresenceStatus: String, Hashable, Sendable, Codable, CaseIterable {
    case online
    case away
    case offline
}

extension PresenceStatus {
    /// The status that these devices add up to, whatever their order: any `active` is `online`; otherwise any `idle`
    /// is `away`; otherwise (only `background`, or none) `offline`.
    public init(of devices: some Sequence<DeviceState>) {
        self = .offline
        for device in devices { add(device) }
    }

    /// One device more, which may be gone.
    package mutating func add(_ device: DeviceState?) {
        switch (device, self) {
        case (.active, _): self = .online
        case (.idle, .offline): self = .away
        case (.idle, .online), (.idle, .away), (.background, _), (nil, _): break
        }
    }
}

/// A user's presence as it stood at one version.
public struct Presence: Hashable, Sendable {
    public var user: UserID
    public var status: PresenceStatus
    /// The latest moment at which one of the user's devices was active or idle; `nil` for a user never seen. While
    /// ``status`` is not `offline`, read it as now.
    public var lastSeen: Timestamp?
    /// When the record last changed; `nil` for a user never seen.
    public var updatedAt: Timestamp?
    /// Grows with every change of any of the user's devices, over a loss of Redis's data too.
    public var version: Int64

    public init(
        user: UserID, status: PresenceStatus, lastSeen: Timestamp?, updatedAt: Timestamp?, version: Int64
    ) {
        self.user = user
        self.status = status
        self.lastSeen = lastSeen
        self.updatedAt = updatedAt
        self.version = version
    }

    /// Whether an observer who saw `other` would see a difference: another status or, while offline, another
    /// last-seen. Versions and times of change alone are nothing to look at.
    public func looksDifferent(from other: Presence) -> Bool { look != other.look }

    /// What an observer sees of it.
    public var look: Look { Look(status: status, lastSeen: status == .offline ? lastSeen : nil) }

    public struct Look: Hashable, Sendable {
        let status: PresenceStatus
        /// While offline.
        let lastSeen: Timestamp?
    }
}

extension Presence: Codable {
    enum CodingKeys: String, CodingKey {
        case user, status
        case lastSeen = "last_seen"
        case updatedAt = "updated_at"
        case version
    }

    /// A status that only a later version knows claims nothing: it reads as `offline`, and the rest counts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let status = try container.decode(String.self, forKey: .status)
        self.init(
            user: try container.decode(UserID.self, forKey: .user),
            status: PresenceStatus(rawValue: status) ?? .offline,
            lastSeen: try container.decodeIfPresent(Timestamp.self, forKey: .lastSeen),
            updatedAt: try container.decodeIfPresent(Timestamp.self, forKey: .updatedAt),
            version: try container.decode(Int64.self, forKey: .version))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(user, forKey: .user)
        try container.encode(status, forKey: .status)
        // A user never seen has `null` here, so that a reader sees the field and its emptiness.
        try container.encode(lastSeen, forKey: .lastSeen)
        try container.encode(updatedAt, forKey: .updatedAt)
        try container.encode(version, forKey: .version)
    }
}
