// What is shown of a conversation: who is typing, and who its members are. Always the whole set.

/// The users who are typing in a conversation, without the client's own user.
public struct Typing: Hashable, Sendable {
    public var conversation: ConversationID
    /// The typing users that the worker names (`typing.names`), in the order in which they began. A user who continues
    /// to type keeps their place.
    public var typists: [Typist]
    /// The number of typing users, named or not.
    public var count: Int
    /// Why the worker shows nothing of this conversation: `not_a_member` or `limit`. `nil` if it does.
    public var refusal: RollcallError?

    public init(
        conversation: ConversationID, typists: [Typist] = [], count: Int? = nil, refusal: RollcallError? = nil
    ) {
        self.conversation = conversation
        self.typists = typists
        self.count = count ?? typists.count
        self.refusal = refusal
    }

    public var isEmpty: Bool { count == 0 }
}

/// A row of a list of conversations: who is typing there, and the presence of the people that the app named for it.
public struct ConversationState: Hashable, Sendable {
    public var typing: Typing
    /// Without the people whose presence is not known yet.
    public var presences: [UserID: Presence]

    public init(typing: Typing, presences: [UserID: Presence]) {
        self.typing = typing
        self.presences = presences
    }
}

/// The members of a conversation and their presence.
public struct Members: Hashable, Sendable {
    public var conversation: ConversationID
    /// The members, sorted by identifier, including the client's own user. In a very large conversation only some are
    /// listed: as many as the worker lets one session watch (`limits.watched_users`).
    public var people: [Member]
    /// The number of members, listed or not; 0 if the conversation has no member list.
    public var count: Int
    /// Why the worker shows nothing of this conversation: `not_a_member` or `limit`. `nil` if it does.
    public var refusal: RollcallError?

    public init(
        conversation: ConversationID, people: [Member] = [], count: Int? = nil, refusal: RollcallError? = nil
    ) {
        self.conversation = conversation
        self.people = people
        self.count = count ?? people.count
        self.refusal = refusal
    }

    /// How many of the members are online: `3 of 5 online`, or `312+ of 5000 online` if only some are listed.
    public var groupCount: GroupCount {
        GroupCount(of: people.compactMap(\.presence), total: count, listed: people.count)
    }

    /// Returns a listed member; `nil` if the user is not listed.
    public subscript(_ user: UserID) -> Member? { people.first { $0.user == user } }
}

/// A member of a conversation.
public struct Member: Hashable, Sendable, Identifiable {
    public var user: UserID
    /// The app's name for the user (``ClientOptions/names``), or else the name from the conversation's member list;
    /// `nil` if there is neither.
    public var name: String?
    /// `nil` while unknown.
    public var presence: Presence?

    public init(user: UserID, name: String? = nil, presence: Presence? = nil) {
        self.user = user
        self.name = name
        self.presence = presence
    }

    public var id: UserID { user }

    /// Names are compared by bytes: another Unicode form of the same letters is another name.
    public static func == (left: Self, right: Self) -> Bool {
        left.user == right.user && left.name.map(ByteString.init) == right.name.map(ByteString.init)
            && left.presence == right.presence
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(user)
        hasher.combine(presence)
    }
}
