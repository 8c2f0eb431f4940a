// What an observer of a conversation sees: always the whole set of those who type there now.

/// Who types in a conversation now, the reader's own user never among them.
public struct Typing: Hashable, Sendable {
    public var conversation: ConversationID
    /// Those of whom the worker gave the names, by when they began: whoever goes on typing keeps their place.
    public var typists: [Typist]
    /// How many type, named or not.
    public var count: Int
    /// Why the worker shows nothing of this conversation (`not_a_member`, `limit`), if it does not.
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
