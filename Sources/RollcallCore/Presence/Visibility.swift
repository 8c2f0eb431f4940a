// Who sees how much of whom. It is decided here and nowhere else: only this file makes a ``ShownPresence``, and messages and
// answers take nothing else (`ShownTests` names the paths).
//
// Asking is never an error. Whoever may not see a user is shown what they would be shown of one who was never seen, after the
// same steps: nobody can tell one from the other.

package import RollcallProtocol

/// Who looks at a user's presence.
struct Viewer {
    /// The viewer's own user; `nil` before the hello.
    let user: UserID?
    /// Whether the token or `access.watch` lets the viewer ask for the user by name.
    let asksByName: Bool
    /// Whether a conversation that the viewer has joined shares the user with it.
    let shares: Bool
    /// Whether the viewer has blocked the user.
    let blocks: Bool
}

/// What is known of what a user has decided that others see.
enum Decisions: Hashable {
    /// They have decided nothing.
    case none
    case known(Person)
    /// The record says that there is something, and Redis does not have it, or not in words of this version.
    case missing
    /// There is something, and it is not read yet. Until then, nothing new is shown.
    case unknown
}

/// How much of a user's presence a viewer sees.
enum View: Hashable {
    case whole
    /// Without any time.
    case timeless
    /// Nothing: the user looks like one who was never seen.
    case hidden

    /// Whoever may ask sees what the user has not hidden from them. To ask, one reason suffices: it is oneself, the token or
    /// `access.watch` covers the name, or both are in a conversation.
    ///
    /// - Parameters:
    ///   - decisions: the user's.
    ///   - lastSeen: when the user was last seen, by what is shown.
    ///   - time: Redis's time.
    init(
        of user: UserID, for viewer: Viewer, by decisions: Decisions, lastSeen: Timestamp?,
        at time: @autoclosure () -> Timestamp
    ) {
        guard viewer.user != user else {
            self = .whole
            return
        }
        guard viewer.shares || viewer.asksByName, !viewer.blocks else {
            self = .hidden
            return
        }
        switch decisions {
        case .none: self = .whole
        case .missing, .unknown: self = .hidden
        case .known(let person):
            let person = person.current(at: time())
            if person.hidesAll || person.presence == .shared && !viewer.shares
                || viewer.user.map({ person.blocked[$0] != nil }) == true
            {
                self = .hidden
            } else if person.lastSeen == .nobody || person.lastSeen == .shared && !viewer.shares {
                self = .timeless
            } else {
                // What the user did while hidden is told to nobody afterwards.
                self = person.unseen.map { lastSeen ?? $0 <= $0 } == true ? .timeless : .whole
            }
        }
    }
}

/// A user's presence as one view shows it.
package struct ShownPresence: Hashable {
    package let presence: Presence

    fileprivate init(_ presence: Presence) { self.presence = presence }

    /// Whether the user looks like one who was never seen.
    var isNeverSeen: Bool { presence.isNeverSeen && presence.version == 0 }
    /// The part of it that observers see.
    var look: Presence.Look { presence.look }
}

extension Presence {
    func shown(in view: View) -> ShownPresence {
        switch view {
        case .whole: ShownPresence(self)
        case .timeless where isNeverSeen, .hidden:
            ShownPresence(Presence(user: user, status: .offline, lastSeen: nil, updatedAt: nil, version: 0))
        case .timeless: ShownPresence(withoutTimes)
        }
    }

    private var withoutTimes: Presence {
        var presence = self
        (presence.lastSeen, presence.updatedAt, presence.version) = (nil, nil, 1)
        return presence
    }
}

extension ServerMessage {
    /// The presence of one user, as a view shows it.
    static func shown(_ one: ShownPresence) -> Self { .presence([one.presence]) }

    /// The presence of users, as a view shows it.
    static func shown(_ presences: [ShownPresence], id: MessageID? = nil) -> Self {
        .presence(presences.map(\.presence), id: id)
    }
}
