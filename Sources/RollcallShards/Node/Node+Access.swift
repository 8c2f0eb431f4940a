// Requests of servers to a node.

internal import NIOCore
internal import RollcallCore
package import RollcallModel
internal import RollcallRedis

extension Node: NodeAccess {
    package func presence(of users: [UserID]) async throws -> [Presence] {
        let known = try await first { $0.shard.known(at: $0.now) }
        let snapshot = try await ask { store, reply in store.presence(of: users, known: known, reply: reply) }
        let presences = try await first { $0.presences(in: snapshot) }
        guard snapshot.unread.isEmpty else { throw Unavailable() }
        return presences
    }

    package func storedPresence(of users: [UserID]) async throws -> [Presence] {
        let snapshot = try await ask { store, reply in
            store.presence(of: users, known: KnownWorkers(), reply: reply)
        }
        guard snapshot.unread.isEmpty else { throw Unavailable() }
        return snapshot.records.map { $0.presence(past: [:]) }
    }

    package func eventsPage(after cursor: EventID, limit: Int) async throws -> EventsPage? {
        guard settings.store.keptEvents != nil else { return nil }
        return try await ask { store, reply in store.events(after: cursor, limit: limit, reply: reply) }
    }

    package func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing {
        let names = typingNames
        let snapshot = try await ask { store, reply in
            store.room(conversation, users: [], withTyping: true, mostMembers: 0, reply: reply)
        }
        let typists = snapshot.typists.map { Typist(user: $0.user, name: $0.name?.string, kind: $0.kind) }
        return ServerMessage.Typing(
            conversation: conversation, users: Array(typists.prefix(names)), count: typists.count)
    }

    package func members(of conversation: ConversationID) async throws -> [UserID: String]? {
        var members: [UserID: String] = [:]
        var cursor = MembersPage.start
        while let page = try await membersPage(of: conversation, from: cursor, limit: Self.pagedMembers) {
            members.merge(page.members.mapValues(\.string)) { first, _ in first }
            guard let next = page.next else { return members }
            cursor = next
        }
        return nil
    }

    /// How many members are read at once.
    private static let pagedMembers = 10_000

    package func membersPage(
        of conversation: ConversationID, from cursor: UInt64, limit: Int
    ) async throws -> MembersPage? {
        try await ask { store, reply in
            store.membersPage(of: conversation, from: cursor, limit: limit, reply: reply)
        }
    }

    package func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws {
        try await ask { store, reply in store.setMembers(members, of: conversation, reply: reply) }
    }

    package func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws {
        try await ask { store, reply in store.setMember(user, name: name, of: conversation, reply: reply) }
    }

    package func removeMember(_ user: UserID, of conversation: ConversationID) async throws {
        try await ask { store, reply in store.removeMember(user, of: conversation, reply: reply) }
    }

    package func endMembership(of conversation: ConversationID) async throws {
        try await ask { store, reply in store.deleteMembers(of: conversation, reply: reply) }
    }
}

extension Node {
    /// As ``RollcallRedis/Store/claimDelivery(by:for:delivered:reply:)``.
    package func claimDelivery(
        by claimant: String, for duration: Duration, delivered: EventID?
    ) async throws -> EventID? {
        try await ask { store, reply in
            store.claimDelivery(by: claimant, for: duration, delivered: delivered, reply: reply)
        }
    }

    /// The length of the stream of events.
    package func eventCount() async throws -> Int64 {
        try await ask { store, reply in store.eventCount(reply: reply) }
    }

    /// By the worker's estimate.
    package func redisTime() async throws -> Timestamp {
        try await first { $0.shard.redisTime(at: $0.now) }
    }

    /// How long a caller waits who wants to know whether to push.
    private static let pushPatience = TimeAmount.seconds(1)

    package func reach(of users: [UserID]) async -> [Reach] {
        let unknown = users.map(Reach.init(unknown:))
        let answer = loops[0].makePromise(of: [Reach].self)
        let late = loops[0].scheduleTask(in: Self.pushPatience) { answer.succeed(unknown) }
        defer { late.cancel() }
        Task { answer.succeed((try? await knownReach(of: users)) ?? unknown) }
        return (try? await answer.futureResult.get()) ?? unknown
    }

    private func knownReach(of users: [UserID]) async throws -> [Reach] {
        // Names no worker as alive: each device is needed, and not only a count of them.
        let (known, time) = try await first { driver in
            let shard = driver.shard
            return (KnownWorkers(own: shard.known(at: driver.now).own), shard.redisTime(at: driver.now))
        }
        let snapshot = try await ask { store, reply in store.presence(of: users, known: known, reply: reply) }
        let found = Dictionary(
            snapshot.records.map { ($0.user, Reach($0, past: snapshot.standings, at: time)) }
        ) { first, _ in first }
        return users.map { found[$0] ?? Reach(unknown: $0) }
    }
}

extension ShardDriver {
    /// Returns the visible presence of these users.
    fileprivate func presences(in snapshot: PresenceSnapshot) -> [Presence] {
        shard.after { shard, _ in shard.metDead(in: snapshot) }
        return shard.presences(in: snapshot)
    }
}
