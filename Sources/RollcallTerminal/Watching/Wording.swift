// The texts about users in a terminal: the client's texts, with identifiers and seconds added.

package import RollcallClient

/// Texts about users, in one language.
package struct Wording: Sendable {
    package let language: Language

    package init(in language: Language) {
        self.language = language
    }

    /// `Online`; empty while unknown.
    package func state(of person: Person) -> String {
        person.dot.label(in: language)
    }

    /// When an offline user was last seen. During the first minute this is in seconds, because an observer at a
    /// terminal wants to see recent changes, where an app's text would still be "Active now".
    package func lastSeen(of person: Person, at now: Timestamp?) -> String {
        guard let now, let presence = person.presence, presence.status == .offline, let lastSeen = presence.lastSeen
        else { return "" }
        let age = now.since(lastSeen)
        if age < .seconds(60) { return "\(max(0, age.components.seconds)) s" }
        return LastSeenText(language: language, style: .exact).text(for: presence, at: now)
    }

    /// The users who are typing; empty if there are none. A user without a name is shown by identifier.
    package func typing(_ typing: Typing) -> String {
        TypingText(language: language).text(for: typing) { user in
            let name = typing.typists.first { $0.user == user }?.name
            return name.flatMap(Shown.name) ?? Shown.text(user.text)
        }
    }

    /// Why a worker shows nothing of a conversation.
    package func refusal(_ error: RollcallError) -> String {
        Shown.text("not shown: \(error.message)")
    }

    /// `3 of 5 online`.
    package func count(of members: Members) -> String {
        members.groupCount.text(in: language)
    }
}
