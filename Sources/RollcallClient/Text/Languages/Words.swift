// The phrases of a language. Each is a property, so that a language without one of them does not compile; what varies
// with a number is ``Forms``. The names are the keys of `words.json`, where docs/texts.md explains them.

extension Language {
    /// What is said, apart from names and numbers, for which placeholders stand.
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
    /// Who is typing: sentences without dots.
    public struct Typing: Hashable, Sendable, Codable {
        /// `{name} is typing`.
        public var one: String
        /// `{list} are typing`: two people at least, named or counted. Chosen by how many they are.
        public var list: Forms
        /// `Someone is typing`: one person without a name.
        public var someone: String
        /// `{count} people are typing`: two at least, none of them with a name.
        public var people: Forms
        /// `Several people are typing`.
        public var several: String
        /// How a name stands in a sentence: `{name}`, or with an honorific.
        public var person: String
        /// `{count} others`, at the end of a list.
        public var others: Forms
        /// `someone else`, at the end of a list: the one who has no name.
        public var someoneElse: String
        /// What stands between the sentence and its dots, such as a no-break space.
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

    /// When someone was last here: lines of their own.
    public struct LastSeen: Hashable, Sendable, Codable {
        /// Here, or gone for less than a minute.
        public var now: String
        /// Discreet, one to four minutes: `{count}m ago`.
        public var minutes: Forms
        /// Discreet, under an hour.
        public var recently: String
        /// Discreet, under a day.
        public var today: String
        /// Discreet, a day or more.
        public var earlier: String
        /// Exact, under an hour: `{count}`.
        public var minutesAgo: Forms
        /// Exact, under a day: `{count}`.
        public var hoursAgo: Forms
        /// Exact, a day or more: `{count}`.
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

    /// What a presence is called, and how many of a group are online.
    public struct Presence: Hashable, Sendable, Codable {
        public var online: String
        public var away: String
        public var offline: String
        /// `{online} of {total} online`; chosen by how many are online.
        public var group: Forms

        public init(online: String, away: String, offline: String, group: Forms) {
            self.online = online
            self.away = away
            self.offline = offline
            self.group = group
        }
    }
}
