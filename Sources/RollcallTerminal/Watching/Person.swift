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

/// What is told of people, in one language.
package struct Wording: Sendable {
    package let language: Language

    package init(in language: Language) {
        self.language = language
    }

    /// `Online`; empty while unknown.
    package func state(of person: Person) -> String {
        person.dot.label(in: language)
    }

    /// When somebody offline was last here. The first minute is told in seconds: whoever watches a terminal wants to
    /// see that something has just happened, where an app would still say that somebody is active.
    package func lastSeen(of person: Person, at now: Timestamp?) -> String {
        guard let now, let presence = person.presence, presence.status == .offline, let lastSeen = presence.lastSeen
        else { return "" }
        let age = now.since(lastSeen)
        if age < .seconds(60) { return "\(max(0, age.components.seconds)) s" }
        return LastSeenText(language: language, style: .exact).text(for: presence, at: now)
    }

    /// Who types; empty if nobody does. Whoever has no name goes by the identifier.
    package func typing(_ typing: Typing) -> String {
        TypingText(language: language).text(for: typing) { user in
            let name = typing.typists.first { $0.user == user }?.name
            return name.flatMap(Shown.name) ?? user.text
        }
    }

    /// `3 of 5 online`.
    package func count(of members: Members) -> String {
        members.groupCount.text(in: language)
    }
}
