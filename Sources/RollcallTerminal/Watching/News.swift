// Decides what to print when news are printed line by line: each thing once, and again only when it looks different. If
// a user is watched directly and as a member of a conversation, the presence is printed once.

package import RollcallClient

/// Something that is printed as one line.
package enum News: Hashable, Sendable {
    case connection(ConnectionState)
    case typing(Typing)
    /// A member was added, removed or renamed, or the number of online members changed.
    case members(Members)
    case presence(Person)
}

/// Finds the news in changes.
package struct NewsDesk: Sendable {
    private var connection: ConnectionState?
    private var typing: [ConversationID: Typing] = [:]
    private var members: [ConversationID: Roll] = [:]
    private var looks: [UserID: Presence.Look] = [:]
    private var names: [UserID: String] = [:]

    /// What is printed about a member list, without the members' presence.
    private struct Roll: Hashable {
        let people: [Member]
        let count: GroupCount
        let refusal: RollcallError?

        init(_ members: Members) {
            people = members.people.map { Member(user: $0.user, name: $0.name) }
            count = members.groupCount
            refusal = members.refusal
        }
    }

    package init() {}

    package mutating func news(in change: Change) -> [News] {
        switch change {
        case .connection(let state): self.news(of: state)
        case .typing(let typing):
            self.typing.updateValue(typing, forKey: typing.conversation) == typing ? [] : [.typing(typing)]
        case .members(let members): self.news(of: members)
        case .presence(let presence): self.news(of: presence).map { [$0] } ?? []
        }
    }

    /// Returns the news in a new connection state. Connection attempts and the length of pauses are not news.
    private mutating func news(of state: ConnectionState) -> [News] {
        switch state {
        case .idle, .connecting, .closed: return []
        case .waiting(_, let reason):
            if case .waiting(_, reason) = connection { return [] }
        case .connected, .failed:
            if state == connection { return [] }
        }
        connection = state
        return [.connection(state)]
    }

    private mutating func news(of members: Members) -> [News] {
        for member in members.people { names[member.user] = member.name }
        let roll = Roll(members)
        let known = self.members.updateValue(roll, forKey: members.conversation)
        let isNews = known != roll && (members.refusal != nil || members.count > 0 || (known?.count.total ?? 0) > 0)
        return (isNews ? [.members(members)] : []) + members.people.compactMap(\.presence).compactMap { news(of: $0) }
    }

    private mutating func news(of presence: Presence) -> News? {
        guard looks.updateValue(presence.look, forKey: presence.user) != presence.look else { return nil }
        return .presence(Person(user: presence.user, name: names[presence.user], presence: presence))
    }
}
