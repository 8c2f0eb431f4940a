// The phrases of a language. Each is a required property, so a language that lacks one does not compile. Phrases that
// depend on a number are ``Forms``. The names are the keys of `words.json`; docs/texts.md describes them.

extension Language {
    /// All phrases, with placeholders for names and numbers.
    public struct Words: Hashable, Sendable, Codable {
        public var typing: Typing
        public var lastSeen: LastSeen
        public var presence: Presence

        public init(typing: Typing, lastSeen: LastSeen, presence: Presence) {
            self.typing = typing
            self.lastSeen = lastSeen
            self.presence = presence
        }
    }
}

extension Language.Words {
    /// Sentences that say who is typing, without dots.
    public struct Typing: Hashable, Sendable, Codable {
        /// `{name} is typing`.
        public var one: String
        /// `{list} are typing`: two or more users, named or counted. The form depends on how many there are in total.
        public var list: Forms
        /// `Someone is typing`: one user without a name.
        public var someone: String
        /// `{count} people are typing`: two or more, none with a name.
        public var people: Forms
        /// `Several people are typing`.
        public var several: String
        /// How a name appears in a sentence: `{name}`, or with an honorific.
        public var person: String
        /// `{count} others`, at the end of a list.
        public var others: Forms
        /// `someone else`, at the end of a list: the only user without a name.
        public var someoneElse: String
        /// The text between the sentence and its dots, such as a no-break space.
        public var beforeDots: String

        public init(
            one: String, list: Forms, someone: String, people: Forms, several: String, person: String = "{name}",
            others: Forms, someoneElse: String, beforeDots: String = ""
        ) {
            self.one = one
            self.list = list
            self.someone = someone
            self.people = people
            self.several = several
            self.person = person
            self.others = others
            self.someoneElse = someoneElse
            self.beforeDots = beforeDots
        }
    }

    /// Lines that say when a user was last seen.
    public struct LastSeen: Hashable, Sendable, Codable {
        /// Online or away, or gone for less than a minute.
        public var now: String
        /// Discreet, one to four minutes: `{count}m ago`.
        public var minutes: Forms
        /// Discreet, under an hour.
        public var recently: String
        /// Discreet, under a day.
        public var today: String
        /// Discreet, a day or more.
        public var earlier: String
        /// Exact, under an hour: `{count}` minutes.
        public var minutesAgo: Forms
        /// Exact, under a day: `{count}` hours.
        public var hoursAgo: Forms
        /// Exact, a day or more: `{count}` days.
        public var daysAgo: Forms

        public init(
            now: String, minutes: Forms, recently: String, today: String, earlier: String, minutesAgo: Forms,
            hoursAgo: Forms, daysAgo: Forms
        ) {
            self.now = now
            self.minutes = minutes
            self.recently = recently
            self.today = today
            self.earlier = earlier
            self.minutesAgo = minutesAgo
            self.hoursAgo = hoursAgo
            self.daysAgo = daysAgo
        }
    }

    /// The names of the presence states, and how many users of a group are online.
    public struct Presence: Hashable, Sendable, Codable {
        public var online: String
        public var away: String
        public var offline: String
        /// `{online} of {total} online`. The form depends on how many are online.
        public var group: Forms

        public init(online: String, away: String, offline: String, group: Forms) {
            self.online = online
            self.away = away
            self.offline = offline
            self.group = group
        }
    }
}
