// News as a line for people.

package import RollcallClient

extension News {
    /// The line; `nil` for news that is printed to standard error.
    ///
    /// - Parameter now: the worker's time.
    package func line(in wording: Wording, at now: Timestamp?) -> String? {
        switch self {
        case .connection: nil
        case .typing(let typing): Self.line(of: typing.conversation, Self.sentence(for: typing, in: wording))
        case .members(let members): Self.line(of: members.conversation, Self.sentence(for: members, in: wording))
        case .presence(let person): person.line(in: wording, at: now)
        }
    }

    private static func line(of conversation: ConversationID, _ sentence: String) -> String {
        "\(Shown.text(conversation.text))  \(Shown.sentence(sentence))"
    }

    private static func sentence(for members: Members, in wording: Wording) -> String {
        members.refusal.map { "members \(wording.refusal($0))" } ?? wording.count(of: members)
    }

    private static func sentence(for typing: Typing, in wording: Wording) -> String {
        if let refusal = typing.refusal { return wording.refusal(refusal) }
        let text = wording.typing(typing)
        return text.isEmpty ? "nobody is typing" : text
    }
}

extension Person {
    /// A line that describes the user's presence.
    package func line(in wording: Wording, at now: Timestamp?) -> String {
        let state = [wording.state(of: self), wording.lastSeen(of: self, at: now)].filter { !$0.isEmpty }
        return "\(fullTitle)  \(state.joined(separator: " · "))"
    }
}
