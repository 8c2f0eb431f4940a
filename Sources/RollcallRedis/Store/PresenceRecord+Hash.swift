// A record as Redis answers it: a hash, whose fields may be another version's.

import RollcallModel

extension Timestamp {
    /// The reply to `TIME`: seconds, and microseconds within.
    init?(redisTime value: RedisValue) {
        guard let parts = value.array, parts.count == 2, let seconds = parts[0].integer,
            let microseconds = parts[1].integer
        else { return nil }
        self.init(milliseconds: seconds * 1000 + microseconds / 1000)
    }
}

extension PresenceRecord {
    /// Reads the hash `presence:{USER}` from the reply to `HGETALL`; fields of other versions are ignored.
    ///
    /// A hash that does not exist reads as offline, older than any write from `time` on.
    init(user: UserID, hash: [RedisValue], readAfter time: Timestamp) {
        self.init(user: user, devices: [:], lastSeen: nil, updatedAt: nil, version: time.milliseconds - 1)
        for index in stride(from: 0, to: hash.count - 1, by: 2) {
            guard let field = hash[index].string, let value = hash[index + 1].string else { continue }
            switch field {
            case "last_seen": lastSeen = Int64(value).map(Timestamp.init(milliseconds:))
            case "updated_at": updatedAt = Int64(value).map(Timestamp.init(milliseconds:))
            case "version": version = Int64(value) ?? version
            default: addDevice(field, value)
            }
        }
    }

    private mutating func addDevice(_ field: String, _ value: String) {
        let mark = "device:"
        guard field.utf8.starts(with: mark.utf8),
            let device = try? DeviceID(String(field.utf8.dropFirst(mark.utf8.count)) ?? ""),
            let record = DeviceRecord(value)
        else { return }
        devices[device] = record
    }
}
