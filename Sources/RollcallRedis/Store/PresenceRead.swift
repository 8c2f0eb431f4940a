// A read of many users: in portions, to each server that has some of them. Each reply is decoded as it arrives, and the
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

    /// In the order of the users, whichever server answers first.
    private var records: [PresenceRecord?]
    private var unread: [UserID] = []
    /// The first error.
    private var failure: RedisError?
    /// The number of portions that have not ended.
    private var missing = 0

    init(of users: [UserID], known: KnownWorkers, from store: Store, reply: @escaping Store.Reply<PresenceSnapshot>) {
        self.users = users
        self.known = known
        self.store = store
        self.reply = reply
        living = Set(known.living.map { BytesKey($0.name.string) })
        records = Array(repeating: nil, count: users.count)
    }

    func begin() {
        let groups = store.commands.groups(of: users.lazy.map { self.store.names.presenceKey($0) })
        guard !groups.isEmpty else {
            // Nobody can be asked.
            if !users.isEmpty { failure = .notSent("HGETALL", because: store.commands.lastError) }
            unread = users
            return end()
        }
        let portions = groups.flatMap { connection, places in
            let most = connection.reads.portion(of: .record)
            return stride(from: 0, to: max(1, places.count), by: most).map {
                (connection, Array(places[$0..<min($0 + most, places.count)]))
            }
        }
        missing = portions.count
        for (connection, places) in portions {
            connection.reads.enter(.record, count: places.count) { self.read(places, at: connection, done: $0) }
        }
    }

    private func read(_ places: [Int], at connection: CommandConnection, done: @escaping (Int) -> Void) {
        var largest = 0
        // Reads the time of the same server first: later writes there get a version of at least this time.
        var time: Timestamp?
        connection.send(RedisCommand("TIME")) { [self] in
            switch $0.flatMap({ Store.understood($0, command: "TIME", Timestamp.init(redisTime:)) }) {
            case .success(let now): time = now
            case .failure(let error): failure = failure ?? error
            }
            if places.isEmpty {
                done(0)
                portionEnded()
            }
        }
        let (names, users) = (store.names, users)
        connection.send("HGETALL", count: places.count) { number, output in
            output.write("HGETALL", key: names.presenceKey(users[places[number]]))
        } reply: { [self] number, hash in
            largest = max(largest, (try? hash.get().byteCount) ?? 0)
            take(hash, at: places[number], readAfter: time)
            if number == places.count - 1 {
                done(largest)
                portionEnded()
            }
        }
    }

    private func take(_ hash: Result<RESPReply, RedisError>, at place: Int, readAfter time: Timestamp?) {
        let user = users[place]
        switch hash.orForeign(RESPReply()) {
        case .success(let hash):
            guard let time else { return unread.append(user) }
            records[place] = PresenceRecord(user: user, hash: hash, readAfter: time, counting: living)
        case .failure(let error):
            if let time, error.isElsewhere { return readElsewhere(place, after: time) }
            failure = failure ?? error
            unread.append(user)
        }
    }

    /// Reads this user alone from another node, because the slot is moving there.
    private func readElsewhere(_ place: Int, after time: Timestamp) {
        let user = users[place]
        missing += 1
        store.commands.send(RedisCommand("HGETALL", .string(store.names.presence(user)))) { [self] result in
            switch result.orForeign(.array([])) {
            case .success(let hash):
                records[place] = PresenceRecord(
                    user: user, hash: hash.array ?? [], readAfter: time, counting: living)
            case .failure(let error):
                failure = failure ?? error
                unread.append(user)
            }
            portionEnded()
        }
    }

    private func portionEnded() {
        missing -= 1
        if missing == 0 { end() }
    }

    // MARK: The second stage

    /// Looks up unknown incarnations and persons, after the records were read: an incarnation claims its lease before it writes
    /// any record, and a record names a person that is stored.
    private func end() {
        let records = records.compactMap(\.self)
        if let failure, records.isEmpty { return reply(.failure(failure)) }
        let strangers = known.strangers(in: records)
        // Side by side: how long it takes says nothing of who is read.
        var standings: Result<[WorkerStanding], RedisError>?
        var persons: (found: [UserID: Person?], unread: [UserID])?
        func bothCame() {
            guard let standings, let (found, unread) = persons else { return }
            let failed = Set(unread)
            reply(
                standings.map {
                    PresenceSnapshot(
                        records: failed.isEmpty ? records : records.filter { !failed.contains($0.user) },
                        standings: known.judged(Dictionary(uniqueKeysWithValues: zip(strangers, $0))),
                        unread: self.unread + unread, persons: found)
                })
        }
        let gathering = Gathering<WorkerStanding>(strangers.count) {
            standings = $0
            bothCame()
        }
        for (index, stranger) in strangers.enumerated() { store.standing(of: stranger, reply: gathering.part(index)) }
        readPersons(of: records.filter(\.needsPerson).map(\.user)) {
            persons = ($0, $1)
            bothCame()
        }
    }

    /// Reads the persons of these users, or calls those `unread` whose cannot be read.
    private func readPersons(
        of users: [UserID], done: @escaping (_ persons: [UserID: Person?], _ unread: [UserID]) -> Void
    ) {
        guard !users.isEmpty else { return done([:], []) }
        let groups = store.commands.groups(of: users.lazy.map { self.store.names.personKey($0) })
        var (persons, unread, missing): ([UserID: Person?], [UserID], Int) = ([:], [], users.count)
        func took(_ hash: Result<Person?, RedisError>, of user: UserID) {
            switch hash {
            case .success(let person): persons.updateValue(person, forKey: user)
            case .failure: unread.append(user)
            }
            missing -= 1
            if missing == 0 { done(persons, unread) }
        }
        // Nobody can be asked.
        guard !groups.isEmpty else { return done([:], users) }
        let names = store.names
        for (connection, places) in groups {
            let most = connection.reads.portion(of: .person)
            for start in stride(from: 0, to: places.count, by: most) {
                let portion = Array(places[start..<min(start + most, places.count)])
                connection.reads.enter(.person, count: portion.count) { [store] ended in
                    var largest = 0
                    connection.send("HGETALL", count: portion.count) { number, output in
                        output.write("HGETALL", key: names.personKey(users[portion[number]]))
                    } reply: { number, hash in
                        let user = users[portion[number]]
                        largest = max(largest, (try? hash.get().byteCount) ?? 0)
                        if case .failure(let error) = hash, error.isElsewhere {
                            store.person(of: user) { took($0, of: user) }
                        } else {
                            took(hash.orForeign(RESPReply()).map(Person.init), of: user)
                        }
                        if number == portion.count - 1 { ended(largest) }
                    }
                }
            }
        }
    }
}

extension PresenceRecord {
    /// Whether the user's person is read with the record: what it names has to be known, and who is hidden must take as long as one
    /// who was never seen.
    fileprivate var needsPerson: Bool { person > 0 || presence(past: [:]).isNeverSeen }
}

extension RedisError {
    /// Whether a cluster node replied that another node has the key.
    fileprivate var isElsewhere: Bool { code == .server(kind: "MOVED") || code == .server(kind: "ASK") }
}
