// A read of many users: one pipeline, each reply made a record as it comes, one answer when the last has come.

import NIOCore
import RollcallModel

/// The records of some users, as far as they have been read.
final class PresenceRead {
    private let users: [UserID]
    private let known: KnownWorkers
    private let living: Set<BytesKey>
    private let store: Store
    private let reply: Store.Reply<PresenceSnapshot>

    private var time: Timestamp?
    private var records: [PresenceRecord] = []
    private var unread: [UserID] = []
    /// The first of what failed.
    private var failure: RedisError?

    init(of users: [UserID], known: KnownWorkers, from store: Store, reply: @escaping Store.Reply<PresenceSnapshot>) {
        self.users = users
        self.known = known
        self.store = store
        self.reply = reply
        living = Set(known.living.map { BytesKey($0.name) })
        records.reserveCapacity(users.count)
    }

    /// Sends everything at once.
    func begin() {
        // First the time: what is written after it has a version of this time at least.
        store.connection.send(RedisCommand("TIME")) { [self] in
            switch $0.flatMap({ Store.understood($0, command: "TIME", Timestamp.init(redisTime:)) }) {
            case .success(let time): self.time = time
            case .failure(let error): failure = error
            }
            if users.isEmpty { end() }
        }
        let names = store.names
        store.connection.send("HGETALL", count: users.count) { place, output in
            output.write("HGETALL", key: names.presenceKey(users[place]))
        } reply: { [self] place, hash in
            take(hash, of: users[place])
            if place == users.count - 1 { end() }
        }
    }

    private func take(_ hash: Result<FlatReply, RedisError>, of user: UserID) {
        switch hash.orForeign(FlatReply()) {
        case .success(let hash):
            guard let time else { return unread.append(user) }
            records.append(PresenceRecord(user: user, hash: hash, readAfter: time, counting: living))
        case .failure(let error):
            failure = failure ?? error
            unread.append(user)
        }
    }

    /// Looks up, after the records, who is not known: an incarnation claims its lease before it writes any.
    private func end() {
        if let failure, records.isEmpty { return reply(.failure(failure)) }
        let strangers = known.strangers(in: records)
        let gathering = Gathering<WorkerStanding>(strangers.count) { [self] result in
            reply(
                result.map {
                    let standings = known.judged(Dictionary(uniqueKeysWithValues: zip(strangers, $0)))
                    return PresenceSnapshot(records: records, standings: standings, unread: unread)
                })
        }
        for (index, stranger) in strangers.enumerated() { store.standing(of: stranger, reply: gathering.part(index)) }
    }
}
