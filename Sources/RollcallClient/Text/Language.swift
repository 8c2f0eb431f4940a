// A language is a value: its words, its plural rule, and how it joins names. All come from JSON: those that Rollcall
// includes from `words.js`, which the browser module uses too, and which is compiled into the program. An app can change
// a word, or add a language.

internal import CWords
import Foundation

/// A language for Rollcall's texts.
///
///     var language = Language.best(for: ["pt-BR", "en"])      // .portuguese
///     language.words.typing.someone = "Um colega está digitando"
///     TypingText(language: language).text(for: typing)
///
/// If you change a language, test that ``problems`` is empty.
public struct Language: Sendable, Identifiable {
    public enum Direction: String, Hashable, Sendable, Codable {
        case leftToRight = "ltr"
        case rightToLeft = "rtl"
    }

    /// A BCP 47 tag, such as `de` or `zh-Hant`. It also decides how names are sorted.
    public var id: String
    /// The name of the language in that language, for a list to choose from.
    public var name: String
    /// The direction of its script. In a right-to-left language, every name is isolated; see ``TypingText``.
    public var direction: Direction
    public var list: ListPattern
    public var plural: PluralRule
    public var words: Words

    /// The problems of the phrases, one sentence each: a phrase is empty, lacks a placeholder, or has one that is never
    /// filled. The texts still work, but users would see the mistakes.
    public var problems: [String] { words.problems }
}

// MARK: Words

extension Language {
    /// All phrases, with placeholders for names and numbers.
    public struct Words: Hashable, Sendable, Codable {
        public var typing: Typing
        public var lastSeen: LastSeen
        public var presence: Presence
        public var connection: Connection
    }
}

extension Language.Words {
    /// Sentences that say who is typing, without dots.
    ///
    /// `{verb}` and `{verbs}` stand for ``verb`` and ``verbs``: what all of them do.
    public struct Typing: Hashable, Sendable, Codable {
        /// What one user does: `is typing`.
        public var verb: Verbs
        /// What several users do: `are typing`.
        public var verbs: Verbs
        /// `{name} {verb}`.
        public var one: String
        /// `{list} {verbs}`: two or more users, named or counted. The form depends on how many there are in total.
        public var list: Forms
        /// `Someone {verb}`: one user without a name.
        public var someone: String
        /// `{count} people {verbs}`: two or more, none with a name.
        public var people: Forms
        /// `Several people {verbs}`.
        public var several: String
        /// How a name appears in a sentence: `{name}`, or with an honorific.
        public var person: String
        /// `{count} others`, at the end of a list.
        public var others: Forms
        /// `someone else`, at the end of a list: the only user without a name.
        public var someoneElse: String
        /// The text between the sentence and its dots, such as a no-break space.
        public var beforeDots: String

        /// A verb for each kind of typing, and for who has a conversation open.
        public struct Verbs: Hashable, Sendable, Codable {
            public var typing: String
            public var recording: String
            public var uploading: String
            public var thinking: String
            /// `is here`, `are here`.
            public var here: String

            subscript(kind: TypingKind) -> String {
                switch kind {
                case .typing: typing
                case .recording: recording
                case .uploading: uploading
                case .thinking: thinking
                }
            }
        }
    }

    /// Lines that say when a user was last seen.
    public struct LastSeen: Hashable, Sendable, Codable {
        /// Online.
        public var now: String
        /// Offline for less than a minute.
        public var justNow: String
        /// Discreet, one to four minutes: `{count}m ago`.
        public var minutes: Forms
        /// Discreet, under an hour.
        public var recently: String
        /// Discreet, under a day, since the reader's midnight.
        public var today: String
        /// Discreet, under a day, before that midnight.
        public var yesterday: String
        /// Discreet, a day up to seven.
        public var week: String
        /// Discreet, seven days up to thirty.
        public var month: String
        /// Discreet, thirty days or more.
        public var longAgo: String
        /// Exact, under an hour: `{count}` minutes.
        public var minutesAgo: Forms
        /// Exact, under a day: `{count}` hours.
        public var hoursAgo: Forms
        /// Exact, a day or more: `{count}` days.
        public var daysAgo: Forms
    }

    /// The names of the presence states, and how many users of a group are online.
    public struct Presence: Hashable, Sendable, Codable {
        public var online: String
        public var away: String
        public var offline: String
        public var busy: String
        /// `Do not disturb`.
        public var dnd: String
        /// `{status} until {time}`: one of the two, and `15:00` or `3 Dec, 15:00`.
        public var until: String
        /// `{online} of {total} online`. The form depends on how many are online.
        public var group: Forms
    }

    /// The state of a connection, for people: see ``ConnectionState/text(in:)``.
    public struct Connection: Hashable, Sendable, Codable {
        public var connecting: String
        public var failed: String
        public var signedOut: String
    }
}

/// The forms of a phrase that depends on a number, by plural category. `other` is required, and replaces missing categories.
public struct Forms: Hashable, Sendable, Codable {
    private var forms: [PluralCategory: String]

    public init(from decoder: any Decoder) throws {
        forms = try decoder.singleValueContainer().decode([PluralCategory: String].self)
        guard forms[.other] != nil else {
            throw DecodingError.valueNotFound(
                String.self, .init(codingPath: decoder.codingPath, debugDescription: "The form `other` is missing."))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(forms)
    }

    /// Set a category to give it a form of its own.
    public subscript(category: PluralCategory) -> String {
        get { forms[category] ?? forms[.other] ?? "" }
        set { forms[category] = newValue }
    }

    fileprivate var all: [String] { Array(forms.values) }
}

/// The text that a language puts between the items of a list.
public struct ListPattern: Hashable, Sendable, Codable {
    /// Between two items.
    public var pair: String
    /// In a list of three or more: between all items except the last two.
    public var middle: String
    /// In a list of three or more: between the last two items.
    public var last: String
    /// Replaces ``pair`` and ``last`` before certain words.
    public var before: Before?

    /// A word for "and" that depends on how the next item begins: Spanish *y* becomes *e* before the sound of *i*.
    public struct Before: Hashable, Sendable, Codable {
        /// The beginnings to which this applies, in lower case.
        public var starts: [String]
        /// Beginnings that are excluded although they match ``starts``: *hielo* begins with the sound of *y*.
        public var except: [String]
        public var use: String
    }

    public func joined(_ items: [String]) -> String {
        guard let final = items.last, items.count > 1 else { return items.first ?? "" }
        let and = before.flatMap { $0.applies(to: final) ? $0.use : nil } ?? (items.count == 2 ? pair : last)
        return items.dropLast().joined(separator: middle) + and + final
    }
}

extension ListPattern.Before {
    /// Whether the item begins like this. Isolates around the item are ignored.
    fileprivate func applies(to item: String) -> Bool {
        let word = String(item.unicodeScalars.drop { $0.properties.isBidiControl }).lowercased()
        return starts.contains { word.hasPrefix($0) } && !except.contains { word.hasPrefix($0) }
    }
}

// MARK: From JSON

extension Language {
    /// Creates a language from a JSON object with the format of Rollcall's `words.js`.
    ///
    /// - Parameters:
    ///   - json: the object. `LanguageWords` in rollcall.d.ts describes its keys.
    ///   - plural: the plural rule of the language, which the object does not contain; by default that of the included
    ///     language with this id, or else ``PluralRule/one``.
    /// - Throws: ``InvalidLanguage``. If the JSON cannot be decoded, it contains only the first problem.
    public init(json: String, plural: PluralRule? = nil) throws(InvalidLanguage) {
        let entry: Entry
        do {
            entry = try JSONDecoder().decode(Entry.self, from: Data(json.utf8))
        } catch {
            throw InvalidLanguage(problems: [Self.sentence(for: error)])
        }
        self.init(entry, plural: plural)
        guard problems.isEmpty else { throw InvalidLanguage(problems: problems) }
    }

    private init(_ entry: Entry, plural: PluralRule?) {
        (id, name, direction, list) = (entry.id, entry.name, entry.direction, entry.list)
        self.plural = plural ?? Self.rule(of: entry.id)
        words = Words(
            typing: entry.typing, lastSeen: entry.lastSeen, presence: entry.presence, connection: entry.connection)
    }

    private struct Entry: Decodable {
        var id: String
        var name: String
        var direction: Direction
        var list: ListPattern
        var typing: Words.Typing
        var lastSeen: Words.LastSeen
        var presence: Words.Presence
        var connection: Words.Connection
    }

    private static func sentence(for error: any Error) -> String {
        func key(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case DecodingError.keyNotFound(let missing, let context): "\(key(context.codingPath + [missing])) is missing"
        case DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context),
            DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            "\(key(context.codingPath)) is wrong: \(context.debugDescription)"
        default: "it is no such JSON: \(error)"
        }
    }
}

/// The problems of a language.
public struct InvalidLanguage: Error, Hashable, CustomStringConvertible {
    /// One sentence for each problem.
    public let problems: [String]

    public var description: String { problems.joined(separator: "; ") }
}

extension Language {
    /// All languages, in the order in which to offer them.
    public static let all = decoded(String(cString: words_json()).trimmingPrefix("export default "))

    public static let english = brought("en")
    public static let german = brought("de")
    public static let french = brought("fr")
    public static let spanish = brought("es")
    /// Brazilian Portuguese.
    public static let portuguese = brought("pt")
    public static let italian = brought("it")
    public static let dutch = brought("nl")
    public static let polish = brought("pl")
    public static let russian = brought("ru")
    public static let arabic = brought("ar")
    public static let hebrew = brought("he")
    public static let hindi = brought("hi")
    public static let japanese = brought("ja")
    public static let korean = brought("ko")
    public static let simplifiedChinese = brought("zh-Hans")
    public static let traditionalChinese = brought("zh-Hant")
    public static let turkish = brought("tr")
    public static let ukrainian = brought("uk")

    private static func brought(_ id: String) -> Language {
        guard let language = all.first(where: { $0.id == id }) else {
            preconditionFailure("words.js has no language \(id)")
        }
        return language
    }

    private static func decoded(_ file: Substring) -> [Language] {
        do {
            return try JSONDecoder().decode([Entry].self, from: Data(file.utf8)).map { Language($0, plural: nil) }
        } catch {
            preconditionFailure("words.js cannot be read: \(error)")
        }
    }

    fileprivate static func rule(of id: String) -> PluralRule {
        switch id {
        case "ja", "ko", "zh-Hans", "zh-Hant": .invariant
        case "fr", "hi", "pt": .zeroAndOne
        case "ru", "uk": .eastSlavic
        case "pl": .polish
        case "ar": .arabic
        case "he": .dual
        default: .one
        }
    }
}

// MARK: Problems

extension Language.Words {
    var problems: [String] { phrases.flatMap(\.problems) }

    private var phrases: [Phrase] {
        [
            Phrase("typing.one", typing.one, ["name"], Self.verbs),
            Phrase("typing.list", typing.list, ["list"], Self.verbs),
            Phrase("typing.someone", typing.someone, [], Self.verbs),
            Phrase("typing.people", typing.people, ["count"], Self.verbs),
            Phrase("typing.several", typing.several, [], Self.verbs),
            Phrase("typing.person", typing.person, ["name"]),
            Phrase("typing.others", typing.others, ["count"]),
            Phrase("typing.someoneElse", typing.someoneElse),
            Phrase("lastSeen.now", lastSeen.now),
            Phrase("lastSeen.justNow", lastSeen.justNow),
            Phrase("lastSeen.minutes", lastSeen.minutes, ["count"]),
            Phrase("lastSeen.recently", lastSeen.recently),
            Phrase("lastSeen.today", lastSeen.today),
            Phrase("lastSeen.yesterday", lastSeen.yesterday),
            Phrase("lastSeen.week", lastSeen.week),
            Phrase("lastSeen.month", lastSeen.month),
            Phrase("lastSeen.longAgo", lastSeen.longAgo),
            Phrase("lastSeen.minutesAgo", lastSeen.minutesAgo, ["count"]),
            Phrase("lastSeen.hoursAgo", lastSeen.hoursAgo, ["count"]),
            Phrase("lastSeen.daysAgo", lastSeen.daysAgo, ["count"]),
            Phrase("presence.online", presence.online),
            Phrase("presence.away", presence.away),
            Phrase("presence.offline", presence.offline),
            Phrase("presence.busy", presence.busy),
            Phrase("presence.dnd", presence.dnd),
            Phrase("presence.until", presence.until, ["status", "time"]),
            Phrase("presence.group", presence.group, ["online", "total"]),
            Phrase("connection.connecting", connection.connecting),
            Phrase("connection.failed", connection.failed),
            Phrase("connection.signedOut", connection.signedOut),
        ]
            + TypingKind.allCases.flatMap {
                [Phrase("typing.verb.\($0)", typing.verb[$0]), Phrase("typing.verbs.\($0)", typing.verbs[$0])]
            }
            + [Phrase("typing.verb.here", typing.verb.here), Phrase("typing.verbs.here", typing.verbs.here)]
    }

    private static let verbs: Set = ["verb", "verbs"]
}

/// A phrase, and the placeholders that are filled in it.
private struct Phrase {
    let key: String
    /// All forms, and the one that must have every placeholder.
    let forms: [String]
    let main: String
    let placeholders: Set<String>
    /// Placeholders that it may have too.
    let optional: Set<String>

    init(_ key: String, _ forms: Forms, _ placeholders: Set<String>, _ optional: Set<String> = []) {
        (self.key, self.forms, main) = (key, forms.all.sorted(), forms[.other])
        (self.placeholders, self.optional) = (placeholders, optional)
    }

    init(_ key: String, _ text: String, _ placeholders: Set<String> = [], _ optional: Set<String> = []) {
        (self.key, forms, main, self.placeholders, self.optional) = (key, [text], text, placeholders, optional)
    }

    /// The phrase's problems. A form for a single number ("two people") need not contain the number; `other` must.
    var problems: [String] {
        let missing = placeholders.subtracting(Self.placeholders(in: main))
        return missing.sorted().map { "\(key) lacks {\($0)}" }
            + forms.flatMap { form in
                let unknown = Self.placeholders(in: form).subtracting(placeholders).subtracting(optional)
                return unknown.sorted().map { "\(key) has {\($0)}, which nothing fills" }
                    + (form.isEmpty ? ["\(key) is empty"] : [])
            }
    }

    private static func placeholders(in text: String) -> Set<String> {
        Set(
            text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().map { opened in
                String(opened.prefix { $0 != "}" })
            })
    }
}
