// Somebody, as a terminal tells of them: by the name that the conversation's members have, and by the identifier, since
// anybody may bear any name.

package import RollcallClient

/// A person to show.
package struct Person: Hashable, Sendable {
    package var user: UserID
    /// Harmless; `nil` if there is none, or it says no more than the identifier.
    package private(set) var name: String?
    /// `nil` while unknown.
    package var presence: Presence?

    package init(user: UserID, name: String? = nil, presence: Presence? = nil) {
        self.user = user
        self.name = name.flatMap(Shown.name)
        if self.name == identifier { self.name = nil }
        self.presence = presence
    }

    package var identifier: String { Shown.name(user.text) ?? "?" }

    /// The name, else the identifier.
    package var title: String { name ?? identifier }

    /// Both, where there are both.
    package var fullTitle: String { name.map { "\($0) (\(identifier))" } ?? identifier }

    package var dot: PresenceDot { PresenceDot(presence) }
}

extension PresenceDot {
    /// The dot in a terminal, which tells its meaning without its colour too.
    package var symbol: String {
        switch self {
        case .green: "●"
        case .amber: "◐"
        case .grey: "○"
        case .none: "·"
        }
    }

    package var style: Style {
        switch self {
        case .green: .online
        case .amber: .away
        case .grey: .offline
        case .none: .faint
        }
    }
}
