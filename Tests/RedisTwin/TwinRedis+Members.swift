// The scripts that write members:{CONVERSATION}, and what they end.

public import RollcallProtocol

extension TwinRedis {
    /// Reads the members' display names; `nil` if the conversation is not managed.
    public func members(of conversation: ConversationID) -> [UserID: String]? {
        memberNames[conversation]
    }

    /// Replaces all members. The conversation is then managed, and typing of users who are not members ends.
    public mutating func setMembers(_ members: [UserID: String], of conversation: ConversationID) {
        memberNames[conversation] = members
        published.append(.members(.reset, of: conversation))
        endTyping(in: conversation) { members[$0] == nil }
        endHere(in: conversation) { members[$0] == nil }
    }

    /// Adds or renames a member. The first member makes the conversation managed.
    public mutating func setMember(_ user: UserID, name: String, of conversation: ConversationID) {
        let begins = memberNames[conversation] == nil
        memberNames[conversation, default: [:]][user] = name
        if begins {
            published.append(.members(.reset, of: conversation))
            endTyping(in: conversation) { $0 != user }
            endHere(in: conversation) { $0 != user }
        }
        published.append(
            .members(.member(user, name: ByteString(name), count: memberNames[conversation]?.count), of: conversation))
    }

    /// Removes a member and ends their typing. No effect if the conversation is not managed.
    public mutating func removeMember(_ user: UserID, of conversation: ConversationID) {
        guard memberNames[conversation] != nil else { return }
        memberNames[conversation]?[user] = nil
        if let typing = typingUsers[TypingUser(conversation: conversation, user: user)]?.read(at: time) {
            var set = typingSet(conversation)
            for device in typing.devices { set[TypingDevice(user: user, device: device.id)] = nil }
            change(typingSet: conversation, to: set)
            endTyping(of: user, in: conversation)
        }
        change([], of: user, in: conversation)
        published.append(.members(.removed(user, count: memberNames[conversation]?.count), of: conversation))
    }

    /// Deletes the member list. Each session's own right then applies.
    public mutating func deleteMembers(of conversation: ConversationID) {
        memberNames[conversation] = nil
        published.append(.members(.reset, of: conversation))
    }

    /// Whether the user is on the conversation's list; `nil` if it has none.
    func isMember(_ user: UserID, of conversation: ConversationID) -> Bool? {
        memberNames[conversation].map { $0[user] != nil }
    }

    /// The member's display name; `nil` if it is empty.
    func displayName(of user: UserID, in conversation: ConversationID) -> String? {
        memberNames[conversation]?[user].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Ends being here of these users, the longest here first.
    private mutating func endHere(in conversation: ConversationID, where ends: (UserID) -> Bool) {
        for (user, _) in inOrder(here[conversation] ?? [:]) where ends(user) { change([], of: user, in: conversation) }
    }

    /// Ends the typing of these users, in the order in which it would have expired.
    private mutating func endTyping(in conversation: ConversationID, where ends: (UserID) -> Bool) {
        let set = typingSet(conversation)
        var ended: Set<UserID> = []
        for (member, _) in set.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) })
        where ends(member.user) && ended.insert(member.user).inserted {
            endTyping(of: member.user, in: conversation)
        }
        change(typingSet: conversation, to: set.filter { !ended.contains($0.key.user) })
    }
}
