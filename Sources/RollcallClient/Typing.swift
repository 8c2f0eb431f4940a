// The typing users of a conversation as observers see them: always the whole set.

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
