// A user's record as read from Redis, and how it is read past dead workers.

/// The hash `presence:{USER}`, as one read found it.
public struct PresenceRecord: Hashable, Sendable {
    public var user: UserID
    public var devices: [DeviceID: DeviceRecord]
    /// What further devices add up to, which are not listed: those of workers that the reader knows to be living.
    public var living = PresenceStatus.offline
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

    /// What observers may be shown: the devices of incarnations that are dead by `standings` do not count, and count
    /// as seen when a sweep will say that they were.
    public func presence(past standings: [Incarnation: WorkerStanding]) -> Presence {
        var status = living
        var lastSeen = lastSeen
        for device in devices.values {
            if let standing = standings[device.incarnation], standing.isDead {
                lastSeen = max(lastSeen, device.lastSeen(ofDead: standing))
            } else {
                status.add(device.state)
            }
        }
        return Presence(user: user, status: status, lastSeen: lastSeen, updatedAt: updatedAt, version: version)
    }

    /// The same, without listing the devices of these incarnations, which nobody takes for dead.
    public func counting(_ living: Set<Incarnation>) -> PresenceRecord {
        var record = self
        for (name, device) in devices where living.contains(device.incarnation) {
            record.devices[name] = nil
            record.living.add(device.state)
        }
        return record
    }

    /// The incarnations named by devices that are not gone, each once.
    public var incarnations: Set<Incarnation> {
        Set(devices.values.filter { $0.state != nil }.map(\.incarnation))
    }
}

extension DeviceRecord {
    /// When somebody was last seen on the device of a worker that died: when its connection was lost, or else at the
    /// worker's last heartbeat; `nil` if the device tells of nobody.
    fileprivate func lastSeen(ofDead standing: WorkerStanding) -> Timestamp? {
        switch state {
        case .active, .idle: lost ?? standing.beat.map { min($0, standing.time) }
        case .background, nil: nil
        }
    }
}

private func max(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
    guard let left, let right else { return left ?? right }
    return Swift.max(left, right)
}
