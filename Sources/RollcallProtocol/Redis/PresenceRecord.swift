// A user's record as read from Redis, and the presence that it shows if workers are dead.

/// The hash `presence:{USER}`, as one read returned it.
public struct PresenceRecord: Hashable, Sendable {
    public var user: UserID
    public var devices: [DeviceID: DeviceRecord]
    /// The status from devices that are not listed, because the reader knows that their workers are alive.
    public var countedStatus = PresenceStatus.offline
    public var lastSeen: Timestamp?
    public var updatedAt: Timestamp?
    /// For a record that does not exist, the time of the read minus one millisecond, so that any write is newer.
    public var version: Int64
    /// What the newest token says of the user.
    public var profile = Profile()
    /// The revision of the user's person that must be known before the presence is shown; 0 if the user has none.
    public var person: Int64 = 0

    public init(
        user: UserID, devices: [DeviceID: DeviceRecord], lastSeen: Timestamp?, updatedAt: Timestamp?, version: Int64
    ) {
        self.user = user
        self.devices = devices
        self.lastSeen = lastSeen
        self.updatedAt = updatedAt
        self.version = version
    }

    /// Whether Redis has a record of the user.
    package var isStored: Bool { updatedAt != nil }

    /// Returns the presence to show to observers. Devices of incarnations that are dead by `standings` do not count.
    /// They only raise the last seen time, to the value that their sweep will write.
    public func presence(past standings: [Incarnation: WorkerStanding]) -> Presence {
        var status = countedStatus
        var lastSeen = lastSeen
        for device in devices.values {
            if let standing = standings[device.incarnation], standing.isDead {
                lastSeen = max(lastSeen, device.lastSeen(ofDead: standing))
            } else {
                status.add(device.state)
            }
        }
        var presence = Presence(
            user: user, status: status, lastSeen: lastSeen, updatedAt: updatedAt, version: version, profile: profile)
        presence.hideIfNeverSeen()
        return presence
    }

    /// Returns the same record without listing the devices of these incarnations, which are known to be alive.
    public func counting(_ living: Set<Incarnation>) -> PresenceRecord {
        var record = self
        for (name, device) in devices where living.contains(device.incarnation) {
            record.devices[name] = nil
            record.countedStatus.add(device.state)
        }
        return record
    }

    /// The incarnations of devices that are not gone.
    public var incarnations: Set<Incarnation> {
        Set(devices.values.filter { $0.state != nil }.map(\.incarnation))
    }
}

extension Presence {
    /// A user who was never seen has no time and version 0, whether or not there is a record.
    package mutating func hideIfNeverSeen() {
        if isNeverSeen { (updatedAt, version, profile) = (nil, 0, Profile()) }
    }
}

extension DeviceRecord {
    /// When the user was last seen on a device of a dead worker: when its connection was lost, or else at the worker's
    /// last heartbeat. `nil` if the device was neither active nor idle.
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

// MARK: The fields in Redis

// A record as Redis stores it: the fields of a hash, some of which may be from another version.

extension PresenceRecord {
    /// Creates the record of a hash that does not exist. It reads as offline, and is older than any write from `time`
    /// on.
    package init(user: UserID, readAfter time: Timestamp) {
        self.init(
            user: user, devices: [:], lastSeen: nil, updatedAt: nil, version: time.milliseconds.saturatingDifference(1))
    }

    /// Reads one field of the hash `presence:{USER}`. Ignores fields of other versions.
    ///
    /// - Parameter living: incarnations whose devices are counted but not listed. For nearly all users these are all
    ///   devices.
    package mutating func read(
        _ field: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, counting living: Set<BytesKey>
    ) {
        if field.spells("last_seen") {
            lastSeen = Int64(decimal: value).map(Timestamp.init(milliseconds:))
        } else if field.spells("updated_at") {
            updatedAt = Int64(decimal: value).map(Timestamp.init(milliseconds:))
        } else if field.spells("version") {
            version = Int64(decimal: value) ?? version
        } else if field.spells("person") {
            person = Int64(decimal: value) ?? 0
        } else if field.holds(Self.mark, at: 0) {
            addDevice(UnsafeRawBufferPointer(rebasing: field[Self.mark.utf8CodeUnitCount...]), value, counting: living)
        } else {
            profile.read(field, value)
        }
    }

    private static var mark: StaticString { "device:" }

    private mutating func addDevice(
        _ device: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, counting living: Set<BytesKey>
    ) {
        guard let words = DeviceWords(value) else { return }
        guard !living.contains(BytesKey(borrowing: words.incarnation)) else { return countedStatus.add(words.state) }
        guard let device = ByteString(validating: device).flatMap({ try? DeviceID($0) }) else { return }
        devices[device] = DeviceRecord(words)
    }
}
