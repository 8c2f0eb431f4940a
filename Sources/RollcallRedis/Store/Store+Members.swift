// Members: the only durable data, written by the application's servers.

public import RollcallProtocol

extension Store {
    /// Reads the members' display names; `nil` if the conversation is not managed.
    ///
    /// Uses a plain command: with 100,000 members, a script would block Redis several times as long.
    public func members(of conversation: ConversationID, reply: @escaping Reply<[UserID: ByteString]?>) {
        commands.send(RedisCommand("HGETALL", .string(names.members(conversation)))) { result in
            reply(result.flatMap { Self.understood($0, command: "HGETALL") { $0.array.map(Self.allMembers) } })
        }
    }

    /// Reads a part of the members: all of them if there are at most `limit`, otherwise about that many.
    ///
    /// - Parameters:
    ///   - cursor: ``MembersPage/start``, or ``MembersPage/next`` of the previous page.
    ///   - reply: `nil` if the conversation is not managed.
    public func membersPage(
        of conversation: ConversationID, from cursor: UInt64, limit: Int, reply: @escaping Reply<MembersPage?>
    ) {
        let key = names.members(conversation)
        commands.send(RedisCommand("HLEN", .string(key))) { result in
            switch result.flatMap({ Self.understood($0, command: "HLEN", \.integer) }) {
            case .failure(let error): reply(.failure(error))
            case .success(0): reply(.success(nil))
            case .success(let fields) where cursor == MembersPage.start && fields <= Int64(limit) + 1:
                self.members(of: conversation) { members in
                    reply(members.map { $0.map { MembersPage(members: $0, next: nil, count: $0.count) } })
                }
            case .success(let fields):
                // One of the fields marks the conversation as managed.
                self.scanMembers(of: key, from: cursor, limit: limit, count: Int(fields) - 1, reply: reply)
            }
        }
    }

    private func scanMembers(
        of key: String, from cursor: UInt64, limit: Int, count: Int, reply: @escaping Reply<MembersPage?>
    ) {
        let scan = RedisCommand(
            "HSCAN", .string(key), .string(String(cursor)), "COUNT", .integer(Int64(limit)))
        commands.send(scan) { result in
            reply(result.flatMap { Self.understood($0, command: "HSCAN") { MembersPage(scan: $0, count: count) } })
        }
    }

    private static func allMembers(_ fields: [RedisValue]) -> [UserID: ByteString]? {
        fields.isEmpty ? nil : RoomSnapshot.members(fields)
    }

    /// Replaces the members and makes the conversation managed. All other users no longer type or are here.
    public func setMembers(
        _ members: [UserID: String], of conversation: ConversationID, reply: @escaping Reply<Void>
    ) {
        call(
            .membersReplace, keys: conversationKeys(conversation),
            arguments: members.map { .string("\($0.text) \($1)") }, reply: reply
        ) { _ in () }
    }

    /// Adds a member, or changes a member's name.
    public func setMember(
        _ user: UserID, name: String, of conversation: ConversationID, reply: @escaping Reply<Void>
    ) {
        call(
            .memberSet, keys: conversationKeys(conversation), arguments: [.string(user.text), .string(name)],
            reply: reply
        ) { _ in () }
    }

    /// Removes a member, who no longer types or is here. Does nothing if the conversation is not managed.
    public func removeMember(_ user: UserID, of conversation: ConversationID, reply: @escaping Reply<Void>) {
        call(
            .memberRemove,
            keys: [names.typing(conversation, user)] + conversationKeys(conversation).dropFirst(),
            arguments: [.string(user.text)],
            reply: reply
        ) { _ in () }
    }

    /// Ends the management of the conversation; from then on, each session's own right decides.
    public func deleteMembers(of conversation: ConversationID, reply: @escaping Reply<Void>) {
        call(.membersDelete, keys: [names.members(conversation)], arguments: [], reply: reply) { _ in () }
    }

    private func conversationKeys(_ conversation: ConversationID) -> [String] {
        [
            names.typingOfUsers(in: conversation), names.typing(conversation), names.members(conversation),
            names.here(conversation), names.hereSince(conversation),
        ]
    }
}

extension MembersPage {
    /// Decodes the reply to `HSCAN`.
    fileprivate init?(scan value: RedisValue, count: Int) {
        guard let parts = value.array, parts.count == 2, let next = parts[0].text.flatMap({ UInt64($0.string) }),
            let fields = parts[1].array
        else { return nil }
        self.init(members: RoomSnapshot.members(fields), next: next == Self.start ? nil : next, count: count)
    }
}
