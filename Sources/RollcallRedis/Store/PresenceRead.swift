// A read of many users: one pipeline to each server that has some of them. Each reply is decoded as it arrives, and the
// result is delivered after the last one.

import NIOCore
import RollcallProtocol

/// A read of some users' records.
final class PresenceRead {
    private let users: [UserID]
    private let known: KnownWorkers
    private let living: Set<BytesKey>
    private let store: Store
    private let reply: Store.Reply<PresenceSnapshot>

    private var records: [PresenceRecord] = []
    private var unread: [UserID] = []
    /// The first error.
    private var failure: RedisError?
    /// The number of pipelines in flight.
    private var missing = 0

    init(of users: [UserID], known: KnownWorkers, from store: Store, reply: @escaping Store.Reply<PresenceSnapshot>) {
        self.users = users
        self.known = known
        self.store = store
        self.reply = reply
        living = Set(known.living.map { BytesKey($0.name.string) })
        records.reserveCapacity(users.count)
    }

    /// Sends all pipelines at once.
    func begin() {
        let groups = store.commands.groups(of: users.lazy.map { self.store.names.presenceKey($0) })
        guard !groups.isEmpty else {
            // Nobody can be asked.
            if !users.isEmpty { failure = .notSent("HGETALL", because: store.commands.lastError) }
            unread = users
            return end()
        }
        missing = groups.count
        for group in groups { read(group.places.map { users[$0] }, at: group.connection) }
    }

    private func read(_ users: [UserID], at connection: CommandConnection) {
        // Reads the time of the same server first: later writes there get a version of at least this time.
        var time: Timestamp?
        connection.send(RedisCommand("TIME")) { [self] in
            switch $0.flatMap({ Store.understood($0, command: "TIME", Timestamp.init(redisTime:)) }) {
            case .success(let now): time = now
            case .failure(let error): failure = failure ?? error
            }
            if users.isEmpty { pipelineEnded() }
        }
        let names = store.names
        connection.send("HGETALL", count: users.count) { place, output in
            output.write("HGETALL", key: names.presenceKey(users[place]))
        } reply: { [self] place, hash in
            take(hash, of: users[place], readAfter: time)
            if place == users.count - 1 { pipelineEnded() }
        }
    }

    private func take(_ hash: Result<RESPReply, RedisError>, of user: UserID, readAfter time: Timestamp?) {
        switch hash.orForeign(RESPReply()) {
        case .success(let hash):
            guard let time else { return unread.append(user) }
            records.append(PresenceRecord(user: user, hash: hash, readAfter: time, counting: living))
        case .failure(let error):
            if let time, error.isElsewhere { return readElsewhere(user, after: time) }
            failure = failure ?? error
            unread.append(user)
        }
    }

    /// Reads this user alone from another node, because the slot is moving there.
    private func readElsewhere(_ user: UserID, after time: Timestamp) {
        missing += 1
        store.commands.send(RedisCommand("HGETALL", .string(store.names.presence(user)))) { [self] result in
            switch result.orForeign(.array([])) {
            case .success(let hash):
                records.append(
                    PresenceRecord(user: user, hash: hash.array ?? [], readAfter: time, counting: living))
            case .failure(let error):
                failure = failure ?? error
                unread.append(user)
            }
            pipelineEnded()
        }
    }

    private func pipelineEnded() {
        missing -= 1
        if missing == 0 { end() }
    }

    /// Looks up unknown incarnations, after the records were read: an incarnation claims its lease before it writes any
    /// record.
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

extension RedisError {
    /// Whether a cluster node replied that another node has the key.
    fileprivate var isElsewhere: Bool { code == .server(kind: "MOVED") || code == .server(kind: "ASK") }
}
