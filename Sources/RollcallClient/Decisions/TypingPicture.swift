// What an observer of one conversation sees. The worker's last word is the truth, but an observer distrusts silence:
// a worker repeats a set that stays, so a set not repeated in time is gone (T14).

/// Who types in one conversation, as far as the worker's words go.
struct TypingPicture {
    /// How much later than the worker's expiry a set goes by itself.
    static let slack = Duration.seconds(2)
    /// The longest that a set stays without a word, whatever expiry the worker claims.
    static let longest = Duration.seconds(10)

    private(set) var typing: Typing
    /// When to call ``deadlinePassed(at:)``.
    private(set) var deadline: ContinuousClock.Instant?

    init(conversation: ConversationID) {
        typing = Typing(conversation: conversation)
    }

    /// Those who go on typing keep their places; whoever is new comes after them, in the worker's order. So a
    /// reconnect to a worker that learnt of them in another order swaps no names.
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

    /// The worker shows nothing of this conversation (any more).
    mutating func refused(_ error: RollcallError) {
        typing = Typing(conversation: typing.conversation, refusal: error)
        deadline = nil
    }
}
