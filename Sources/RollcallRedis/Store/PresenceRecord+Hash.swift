// Decodes a presence record from its hash, which may contain fields of another version.

package import RollcallProtocol

extension Timestamp {
    /// The reply to `TIME`: seconds, and the microseconds within the second. `nil` for anything else.
    package init?(redisTime value: RedisValue) {
        guard let parts = value.array, parts.count == 2, let seconds = parts[0].integer,
            let microseconds = parts[1].integer, (0..<Int64.max.bounded / 1000).contains(seconds),
            (0..<1_000_000).contains(microseconds)
        else { return nil }
        self.init(milliseconds: seconds * 1000 + microseconds / 1000)
    }
}

extension PresenceRecord {
    /// Decodes the hash `presence:{USER}` from a reply to `HGETALL`; fields of other versions are ignored.
    ///
    /// A hash that does not exist is read as offline, with a version below that of any write from `time` on.
    ///
    /// - Parameter living: incarnations whose devices are only counted and not listed, which are nearly all devices.
    init(user: UserID, hash: RESPReply, readAfter time: Timestamp, counting living: Set<BytesKey>) {
        self.init(user: user, readAfter: time)
        hash.forEachField { read($0, $1, counting: living) }
    }

    /// The same from a tree. By default, every device is listed.
    init(user: UserID, hash: [RedisValue], readAfter time: Timestamp, counting living: Set<BytesKey> = []) {
        self.init(user: user, readAfter: time)
        for index in stride(from: 0, to: hash.count - 1, by: 2) {
            guard case .bulk(let field) = hash[index], case .bulk(let value) = hash[index + 1] else { continue }
            field.withUnsafeBytes { field in value.withUnsafeBytes { read(field, $0, counting: living) } }
        }
    }
}
