// A pipeline of reads on its way: it gathers the replies, and answers once with all of them or with the first error.

import RollcallModel

final class PresenceRead {
    private let users: [UserID]
    private var time = Timestamp(milliseconds: 0)
    private var records: [PresenceRecord] = []
    private var reply: Store.Reply<PresenceSnapshot>?

    init(of users: [UserID], reply: @escaping Store.Reply<PresenceSnapshot>) {
        self.users = users
        self.reply = reply
        records.reserveCapacity(users.count)
    }

    /// The time comes before the first record, as its command went first.
    func timeRead(_ result: Result<RedisValue, RedisError>) {
        switch result.flatMap({ Store.understood($0, command: "TIME", Timestamp.init(redisTime:)) }) {
        case .success(let time):
            self.time = time
            answerWhenComplete()
        case .failure(let error):
            fail(error)
        }
    }

    func recordRead(_ result: Result<RedisValue, RedisError>, at index: Int) {
        switch result {
        case .success(let fields):
            records.append(PresenceRecord(user: users[index], hash: fields.array ?? [], readAfter: time))
            answerWhenComplete()
        case .failure(let error) where error.code == .server(kind: "WRONGTYPE"):
            // A foreign key under our name says nothing of this user, and must not hide the others.
            records.append(PresenceRecord(user: users[index], hash: [], readAfter: time))
            answerWhenComplete()
        case .failure(let error):
            fail(error)
        }
    }

    private func answerWhenComplete() {
        guard records.count == users.count, let reply else { return }
        self.reply = nil
        reply(.success(PresenceSnapshot(records: records)))
    }

    private func fail(_ error: RedisError) {
        reply?(.failure(error))
        reply = nil
    }
}

extension Timestamp {
    /// The reply to `TIME`: seconds, and microseconds within.
    fileprivate init?(redisTime value: RedisValue) {
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
    fileprivate init(user: UserID, hash: [RedisValue], readAfter time: Timestamp) {
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
