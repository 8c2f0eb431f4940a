// The conversations of a scenario that measures typing.

internal import RollcallModel

/// Conversations with their ledgers.
struct Talks {
    let names: [String]
    private(set) var ledgers: [TypingLedger]
    private let numbers: [String: Int]

    /// - Parameter talks: the names, with the users who may type there.
    init(_ talks: [(name: String, typists: [Int])]) {
        names = talks.map(\.name)
        ledgers = talks.map { TypingLedger($0.typists) }
        numbers = Dictionary(uniqueKeysWithValues: zip(names, 0...))
    }

    subscript(talk: Int) -> TypingLedger {
        _read { yield ledgers[talk] }
        _modify { yield &ledgers[talk] }
    }

    /// Returns what a message shows; `nil` if its conversation is not one of these.
    func picture(of typing: ServerMessage.Typing, _ plan: Plan) -> TypingPicture? {
        guard let talk = numbers[typing.conversation.text] else { return nil }
        let bits = typing.users.compactMap { user in
            plan.number(ofUser: user.user.text).flatMap { ledgers[talk].bit(of: $0) }
        }
        return TypingPicture(
            talk: talk, typing: bits.reduce(0) { $0 | 1 << UInt64($1) },
            isComplete: bits.count == typing.count)
    }
}
