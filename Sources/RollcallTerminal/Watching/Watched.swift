// The current state of everything that is watched.

package import RollcallClient

/// The watched conversations and users, and their state.
package struct Watched: Sendable {
    package let conversations: [ConversationID]
    /// The users who are watched directly.
    package let users: [UserID]
    package private(set) var connection = ConnectionState.idle
    package private(set) var typing: [ConversationID: Typing] = [:]
    package private(set) var members: [ConversationID: Members] = [:]
    private var presence: [UserID: Presence] = [:]

    package init(conversations: [ConversationID] = [], users: [UserID] = []) {
        self.conversations = conversations.withoutRepeats
        self.users = users.withoutRepeats
    }

    package mutating func changed(_ change: Change) {
        switch change {
        case .connection(let state): connection = state
        case .typing(let typing): self.typing[typing.conversation] = typing
        case .members(let members): self.members[members.conversation] = members
        case .presence(let presence): self.presence[presence.user] = presence
        }
    }

    /// The members of a conversation.
    package func people(of conversation: ConversationID) -> [Person] {
        (members[conversation]?.people ?? []).map { Person(user: $0.user, name: $0.name, presence: $0.presence) }
    }

    /// The users who are watched directly, with their names from the watched conversations.
    package var people: [Person] {
        let names = Dictionary(
            members.values.flatMap(\.people).map { ($0.user, $0.name) }, uniquingKeysWith: { $0 ?? $1 })
        return users.map { Person(user: $0, name: names[$0] ?? nil, presence: presence[$0]) }
    }
}

extension Array where Element: Hashable {
    /// The elements without repetitions, in the order of their first occurrence.
    fileprivate var withoutRepeats: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
