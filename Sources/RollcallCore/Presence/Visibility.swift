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
}

/// Why a viewer sees so much of a user, and no more. The codes are stable.
package enum Sight: String, Hashable, Sendable {
    case oneself
    case mayNotAsk = "may_not_ask"
    case viewerBlocks = "viewer_blocks"
    case notKnown = "not_known"
    case invisible
    case hiddenFromAll = "hidden_from_all"
    case sharedOnly = "shared_only"
    case blocked
    case noTimes = "no_times"
    case hiddenUntilNow = "hidden_until_now"
    case allowed

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
        self =
            if viewer.user == user {
                .oneself
            } else if !viewer.shares && !viewer.asksByName {
                .mayNotAsk
            } else if viewer.blocks {
                .viewerBlocks
            } else {
                switch decisions {
                case .none: .allowed
                case .missing, .unknown: .notKnown
                case .known(let person): Self.decided(by: person.current(at: time()), for: viewer, lastSeen)
                }
            }
    }

    private static func decided(by person: Person, for viewer: Viewer, _ lastSeen: Timestamp?) -> Sight {
        if person.availability == .invisible { return .invisible }
        if person.presence == .nobody { return .hiddenFromAll }
        if person.presence == .shared, !viewer.shares { return .sharedOnly }
        if viewer.user.map({ person.blocked[$0] != nil }) == true { return .blocked }
        if person.lastSeen == .nobody || person.lastSeen == .shared && !viewer.shares { return .noTimes }
        // What the user did while hidden is told to nobody afterwards.
        return person.unseen.map { lastSeen ?? $0 <= $0 } == true ? .hiddenUntilNow : .allowed
    }

    var view: View {
        switch self {
        case .oneself, .allowed: .whole
        case .noTimes, .hiddenUntilNow: .timeless
        case .mayNotAsk, .viewerBlocks, .notKnown, .invisible, .hiddenFromAll, .sharedOnly, .blocked: .hidden
        }
    }

    /// The rule as a sentence.
    package func sentence(_ user: UserID, for viewer: UserID) -> String {
        switch self {
        case .oneself: "\(viewer) sees everything: it is themselves"
        case .allowed: "\(viewer) sees everything: nothing that \(user) has decided forbids it"
        case .mayNotAsk:
            "\(viewer) sees nothing: no conversation shares \(user) with them, and access.watch lets nobody ask"
        case .viewerBlocks: "\(viewer) sees nothing: they have blocked \(user)"
        case .blocked: "\(viewer) sees nothing: \(user) has blocked them"
        case .notKnown: "\(viewer) sees nothing: Redis lacks what \(user) has decided (PUT it again)"
        case .invisible: "\(viewer) sees nothing: \(user) is invisible"
        case .hiddenFromAll: "\(viewer) sees nothing: \(user) shows their presence to nobody"
        case .sharedOnly: "\(viewer) sees nothing: \(user) shows their presence to those in a conversation with them"
        case .noTimes: "\(viewer) sees no times: \(user) does not show them"
        case .hiddenUntilNow: "\(viewer) sees no times: \(user) was hidden, and not seen since"
        }
    }
}

/// For whom a server asks: a user as a session without a claim sees others.
package struct Asker: Sendable {
    package let user: UserID
    fileprivate let person: Person?
    fileprivate let room: RoomSnapshot?

    /// - Parameters:
    ///   - person: what they have decided themselves.
    ///   - room: a conversation that may share others with them, with its members.
    package init(_ user: UserID, _ person: Person?, in room: RoomSnapshot?) {
        (self.user, self.person, self.room) = (user, person, room)
    }

    func viewer(of other: UserID, _ settings: ShardSettings) -> Viewer {
        Viewer(
            user: user, asksByName: settings.watch.covers(other), shares: shares(other, most: settings.sharedMembers),
            blocks: person?.blocked[other] != nil)
    }

    private func shares(_ other: UserID, most: Int) -> Bool {
        guard let room else { return false }
        guard room.isManaged else { return room.people.contains(other) && room.people.count <= most }
        return room.memberCount <= most && room.members?[user] != nil && room.members?[other] != nil
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
