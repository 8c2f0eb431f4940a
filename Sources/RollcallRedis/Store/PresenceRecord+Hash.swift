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
    ///
    /// - Parameter living: whose devices are counted and not listed: of almost everybody, all.
    init(user: UserID, hash: FlatReply, readAfter time: Timestamp, counting living: Set<BytesKey>) {
        self.init(user: user, readAfter: time)
        hash.forEachField { read($0, $1, counting: living) }
    }

    /// The same from a tree; unless told otherwise, with every device listed.
    init(user: UserID, hash: [RedisValue], readAfter time: Timestamp, counting living: Set<BytesKey> = []) {
        self.init(user: user, readAfter: time)
        for index in stride(from: 0, to: hash.count - 1, by: 2) {
            guard case .bulk(let field) = hash[index], case .bulk(let value) = hash[index + 1] else { continue }
            field.withUnsafeBytes { field in value.withUnsafeBytes { read(field, $0, counting: living) } }
        }
    }
}
