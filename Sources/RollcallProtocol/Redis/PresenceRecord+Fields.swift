// A record as Redis stores it: the fields of a hash, some of which may be from another version.

extension PresenceRecord {
    /// Creates the record of a hash that does not exist. It reads as offline, and is older than any write from `time`
    /// on.
    package init(user: UserID, readAfter time: Timestamp) {
        let version = time.milliseconds.saturatingDifference(1)
        self.init(user: user, devices: [:], lastSeen: nil, updatedAt: nil, version: version)
        absentVersion = version
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
            if lastSeen != nil { absentVersion = nil }
        } else if field.spells("updated_at") {
            updatedAt = Int64(decimal: value).map(Timestamp.init(milliseconds:))
        } else if field.spells("version") {
            version = Int64(decimal: value) ?? version
        } else if field.holds(Self.mark, at: 0) {
            addDevice(UnsafeRawBufferPointer(rebasing: field[Self.mark.utf8CodeUnitCount...]), value, counting: living)
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
