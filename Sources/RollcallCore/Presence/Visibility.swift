// Who sees how much of whom. It is decided here and nowhere else: only this file makes a ``ShownPresence``, and messages and
// answers take nothing else (`ShownTests` names the paths).
//
// Asking is never an error. Whoever may not see a user is shown what they would be shown of one who was never seen, after the
// same steps: nobody can tell one from the other.

package import RollcallProtocol

/// Who looks at a user's presence.
enum Viewer {
    /// A session, and whether a conversation that it has joined shares the user with it.
    case session(Session, shares: Bool)
    /// A server, or an operator.
    case server
}

/// How much of a user's presence a viewer sees.
enum View {
    case whole
    /// Nothing: the user looks like one who was never seen.
    case hidden

    /// One reason suffices: it is oneself, the token or `access.watch` covers the name, or both are in a conversation.
    init(of user: UserID, for viewer: Viewer) {
        self =
            switch viewer {
            case .server: .whole
            case .session(let session, let shares):
                shares || session.watchRight.covers(user) || session.user == user ? .whole : .hidden
            }
    }
}

/// A user's presence as one view shows it.
package struct ShownPresence: Hashable {
    package let presence: Presence

    fileprivate init(_ presence: Presence) { self.presence = presence }

    /// Whether the user looks like one who was never seen.
    var isNeverSeen: Bool { presence.isNeverSeen }
    /// The part of it that observers see.
    var look: Presence.Look { presence.look }
}

extension Presence {
    func shown(in view: View) -> ShownPresence {
        switch view {
        case .whole: ShownPresence(self)
        case .hidden:
            ShownPresence(Presence(user: user, status: .offline, lastSeen: nil, updatedAt: nil, version: 0))
        }
    }
}

extension ServerMessage {
    /// The presence of users, as a view shows it.
    static func shown(_ presences: [ShownPresence], id: MessageID? = nil) -> Self {
        .presence(presences.map(\.presence), id: id)
    }
}
