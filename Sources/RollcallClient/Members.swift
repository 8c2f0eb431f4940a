// What an observer of a conversation's members sees: always the whole list, with what is known of each of them.

/// Who belongs to a conversation, and who of them is here.
public struct Members: Hashable, Sendable {
    public var conversation: ConversationID
    /// By their identifiers, the reader's own user among them; of a very large conversation as many as the worker's
    /// limits let one session watch.
    public var people: [Member]
    /// How many there are, listed or not; 0 where no members are set.
    public var count: Int
    /// Why the worker shows nothing of this conversation (`not_a_member`, `limit`), if it does not.
    public var refusal: RollcallError?

    public init(
        conversation: ConversationID, people: [Member] = [], count: Int? = nil, refusal: RollcallError? = nil
    ) {
        self.conversation = conversation
        self.people = people
        self.count = count ?? people.count
        self.refusal = refusal
    }

    /// How many of them are online, for `3 of 5 online`.
    public var groupCount: GroupCount { GroupCount(of: people.compactMap(\.presence), total: count) }

    /// One of them.
    public subscript(_ user: UserID) -> Member? { people.first { $0.user == user } }
}

/// Somebody who belongs to a conversation.
public struct Member: Hashable, Sendable, Identifiable {
    public var user: UserID
    /// By the app's resolver, else as the conversation's members have it.
    public var name: String?
    /// `nil` while unknown.
    public var presence: Presence?

    public init(user: UserID, name: String? = nil, presence: Presence? = nil) {
        self.user = user
        self.name = name
        self.presence = presence
    }

    public var id: UserID { user }
}
