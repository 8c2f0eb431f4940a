// Requests of servers to a node.

internal import RollcallCore
package import RollcallModel
internal import RollcallRedis

extension Node: NodeAccess {
    package func presence(of users: [UserID]) async throws -> [Presence] {
        let known = try await first { $0.shell.shard.known(at: $0.now) }
        let snapshot = try await ask { store, reply in store.presence(of: users, known: known, reply: reply) }
        guard let presences = try await first({ $0.presences(in: snapshot) }) else { throw Unavailable() }
        return presences
    }

    package func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing {
        let names = typingNames
        let snapshot = try await ask { store, reply in
            store.room(conversation, users: [], withTyping: true, mostMembers: 0, reply: reply)
        }
        let typists = snapshot.typists.map { Typist(user: $0.user, name: $0.name?.string) }
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

extension ShardDriver {
    /// Returns the visible presence of these users; `nil` if some could not be read.
    fileprivate func presences(in snapshot: PresenceSnapshot) -> [Presence]? {
        after { shard, _ in shard.metDead(in: snapshot) }
        return snapshot.unread.isEmpty ? shell.shard.presences(in: snapshot) : nil
    }
}
