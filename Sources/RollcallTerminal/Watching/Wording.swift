// What a terminal says of people: the client's texts, with the identifiers and seconds that somebody at a terminal wants.

package import RollcallClient

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
            return name.flatMap(Shown.name) ?? Shown.text(user.text)
        }
    }

    /// Why a worker shows nothing of something.
    package func refusal(_ error: RollcallError) -> String {
        Shown.text("not shown: \(error.message)")
    }

    /// `3 of 5 online`.
    package func count(of members: Members) -> String {
        members.groupCount.text(in: language)
    }
}
