// Members: the one durable thing, written by the application's servers.

public import RollcallModel

extension Store {
    /// Reads the members' display names; `nil` if the conversation is not managed.
    ///
    /// By a bare command: through a script, a hundred thousand members would hold Redis up for several times as long.
    public func members(of conversation: ConversationID, reply: @escaping Reply<[UserID: String]?>) {
        commands.send(RedisCommand("HGETALL", .string(names.members(conversation)))) { result in
            reply(result.flatMap { Self.understood($0, command: "HGETALL") { $0.array.map(Self.allMembers) } })
        }
    }

    private static func allMembers(_ fields: [RedisValue]) -> [UserID: String]? {
        fields.isEmpty ? nil : RoomSnapshot.members(fields)
    }

    /// Makes exactly these the members, and the conversation managed; the typing of everybody else ends.
    public func setMembers(
        _ members: [UserID: String], of conversation: ConversationID, reply: @escaping Reply<Void>
    ) {
        call(
            .membersReplace, keys: conversationKeys(conversation),
            arguments: members.flatMap { [.string($0.text), .string($1)] }, reply: reply
        ) { _ in () }
    }

    /// Adds a member, or gives one another name.
    public func setMember(
        _ user: UserID, name: String, of conversation: ConversationID, reply: @escaping Reply<Void>
    ) {
        call(
            .memberSet, keys: conversationKeys(conversation), .string(user.text), .string(name), reply: reply
        ) { _ in () }
    }

    /// Removes a member, whose typing ends; nothing happens where the conversation is not managed.
    public func removeMember(_ user: UserID, of conversation: ConversationID, reply: @escaping Reply<Void>) {
        call(
            .memberRemove,
            keys: [names.typing(conversation, user), names.typing(conversation), names.members(conversation)],
            .string(user.text), reply: reply
        ) { _ in () }
    }

    /// Ends the management: `conversations.default` decides from here on.
    public func deleteMembers(of conversation: ConversationID, reply: @escaping Reply<Void>) {
        call(
            .membersDelete, keys: conversationKeys(conversation), conversationsDefault, reply: reply
        ) { _ in () }
    }

    private func conversationKeys(_ conversation: ConversationID) -> [String] {
        [names.typingOfUsers(in: conversation), names.typing(conversation), names.members(conversation)]
    }
}
