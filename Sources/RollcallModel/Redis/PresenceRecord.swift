// A user's record as read from Redis, and how it is read past dead workers.

/// The hash `presence:{USER}`, as one read found it.
public struct PresenceRecord: Hashable, Sendable {
    public var user: UserID
    public var devices: [DeviceID: DeviceRecord]
    public var lastSeen: Timestamp?
    public var updatedAt: Timestamp?
    /// For a record that does not exist, the time of the read less one millisecond, so that any write is newer.
    public var version: Int64

    public init(
        user: UserID, devices: [DeviceID: DeviceRecord], lastSeen: Timestamp?, updatedAt: Timestamp?, version: Int64
    ) {
        self.user = user
        self.devices = devices
        self.lastSeen = lastSeen
        self.updatedAt = updatedAt
        self.version = version
    }

    /// What observers may be shown: the devices of incarnations that `isDead` names do not count.
    public func presence(masking isDead: (Incarnation) -> Bool) -> Presence {
        let living = devices.values.filter { !isDead($0.incarnation) }.compactMap(\.state)
        return Presence(
            user: user, status: PresenceStatus(of: living), lastSeen: lastSeen, updatedAt: updatedAt, version: version)
    }

    /// The incarnations named by devices that are not gone, each once.
    public var incarnations: Set<Incarnation> {
        Set(devices.values.filter { $0.state != nil }.map(\.incarnation))
    }
}
