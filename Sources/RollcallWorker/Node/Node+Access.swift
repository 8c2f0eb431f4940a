// What servers ask of a node, answered by the first shard.

internal import RollcallCore
package import RollcallModel
internal import RollcallRedis

extension Node: NodeAccess {
    package func presence(of users: [UserID]) async throws -> [Presence] {
        let presences: [Presence]? = try await ask { driver, reply in
            driver.store.presence(of: users, known: driver.shard.known(at: driver.now)) { result in
                reply(result.map { driver.presences(in: $0) })
            }
        }
        guard let presences else { throw Unavailable() }
        return presences
    }

    package func typing(in conversation: ConversationID) async throws -> ServerMessage.Typing {
        let names = typingNames
        let snapshot = try await ask { driver, reply in
            driver.store.room(conversation, user: nil, withTyping: true, mostMembers: 0, reply: reply)
        }
        let typists = snapshot.typists.map { Typist(user: $0.user, name: $0.name) }
        return ServerMessage.Typing(
            conversation: conversation, users: Array(typists.prefix(names)), count: typists.count)
    }

    package func members(of conversation: ConversationID) async throws -> [UserID: String]? {
        try await ask { driver, reply in driver.store.members(of: conversation, reply: reply) }
    }

    package func setMembers(_ members: [UserID: String], of conversation: ConversationID) async throws {
        try await ask { driver, reply in driver.store.setMembers(members, of: conversation, reply: reply) }
    }

    package func setMember(_ user: UserID, name: String, of conversation: ConversationID) async throws {
        try await ask { driver, reply in driver.store.setMember(user, name: name, of: conversation, reply: reply) }
    }

    package func removeMember(_ user: UserID, of conversation: ConversationID) async throws {
        try await ask { driver, reply in driver.store.removeMember(user, of: conversation, reply: reply) }
    }

    package func endMembership(of conversation: ConversationID) async throws {
        try await ask { driver, reply in driver.store.deleteMembers(of: conversation, reply: reply) }
    }
}

extension ShardDriver {
    /// What may be shown of these users; `nil` if some of them could not be read.
    fileprivate func presences(in snapshot: PresenceSnapshot) -> [Presence]? {
        after { shard, _ in shard.metDead(in: snapshot) }
        return snapshot.unread.isEmpty ? shard.presences(in: snapshot) : nil
    }
}
