// A user as shown in a terminal: with the name from the conversation's member list, and also with the identifier, since
// anyone can choose any name.

package import RollcallClient

/// A user to show.
package struct Person: Hashable, Sendable {
    package var user: UserID
    /// The name, safe to show; `nil` if there is none, or if it equals the identifier.
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

    /// The name, or else the identifier.
    package var title: String { name ?? identifier }

    /// The name and the identifier, or only the identifier.
    package var fullTitle: String { name.map { "\($0) (\(identifier))" } ?? identifier }

    package var dot: PresenceDot { PresenceDot(presence) }
}

extension PresenceDot {
    /// The dot for a terminal. Its shape shows its meaning even without colour.
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
