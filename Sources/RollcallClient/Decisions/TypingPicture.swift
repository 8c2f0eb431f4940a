// What an observer of a conversation's typing sees: the set that the worker last sent. A worker repeats a set that
// lasts, so a set that is not repeated in time is dropped.

/// The typing users of one conversation, as the worker has sent them.
struct TypingPicture {
    /// How long after the worker's expiry a set is dropped that was not repeated.
    static let slack = Duration.seconds(2)
    /// The longest that a set is shown without a repetition, even if the worker's expiry is longer.
    static let longest = Duration.seconds(10)

    private(set) var typing: Typing
    /// When to call ``deadlinePassed(at:)``.
    private(set) var deadline: ContinuousClock.Instant?

    init(conversation: ConversationID) {
        typing = Typing(conversation: conversation)
    }

    /// Handles the worker's set. Users who continue to type keep their places; new ones follow in the worker's order.
    /// After a reconnect to a worker that learned of them in another order, no names swap places.
    mutating func heard(_ message: ServerMessage.Typing, expiry: Duration, at now: ContinuousClock.Instant) {
        var present: [UserID: Typist] = [:]
        for typist in message.users { present[typist.user] = typist }
        var typists = typing.typists.compactMap { present.removeValue(forKey: $0.user) }
        for typist in message.users {
            if let new = present.removeValue(forKey: typist.user) { typists.append(new) }
        }
        let count = max(message.count, typists.count)
        typing = Typing(conversation: typing.conversation, typists: typists, count: count)
        deadline = count == 0 ? nil : now + min(expiry + Self.slack, Self.longest)
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        guard let deadline, now >= deadline else { return }
        typing = Typing(conversation: typing.conversation)
        self.deadline = nil
    }

    /// Handles that the worker shows nothing of this conversation, or no longer.
    mutating func refused(_ error: RollcallError) {
        typing = Typing(conversation: typing.conversation, refusal: error)
        deadline = nil
    }
}
