// The text that says who is typing. What to say is decided separately from the words, so that a new language only needs
// words.

import Foundation

/// Turns the typing users of a conversation into a text.
///
///     TypingText.english.text(for: typing)                       // "Alice and Bob are typing…"
///     TypingText(language: .current).text(for: typing)           // "Alice und Bob schreiben …"
///
/// If all of them do another thing than typing, the text says so: `Alice is recording…`.
///
/// A name is isolated (U+2068, U+2069) if the language or the name is written from right to left, so that neither
/// changes the other's order. Directional controls in names are removed.
public struct TypingText: Sendable {
    /// The end of the sentence.
    public enum Dots: String, Hashable, Sendable, CaseIterable {
        /// `…`
        case ellipsis = "…"
        /// `...`
        case three = "..."
        /// Nothing, for use beside animated dots.
        case none = ""
    }

    public enum Order: Hashable, Sendable, CaseIterable {
        /// By when the users began to type.
        case beginning
        /// By name, sorted by the rules of the language.
        case name
    }

    /// English, with at most three names and an ellipsis.
    public static let english = TypingText(language: .english)

    public var language: Language
    /// The maximum number of names. If more users are typing, at most two are named and the others counted.
    public var maximumNames = 3
    /// From this number of users, the text is `Several people are typing…`; `nil` for never. It never applies to one
    /// user.
    public var severalFrom: Int?
    public var dots = Dots.ellipsis
    public var order = Order.beginning
    /// The maximum length of a name in characters. Longer names are shortened.
    public var longestName = 40

    /// - Parameter language: by default the user's, which is ``Language/current``.
    public init(language: Language = .current) {
        self.language = language
    }

    /// Returns the text; empty if no user is typing.
    ///
    /// - Parameters:
    ///   - typing: who is typing.
    ///   - name: returns the app's name for a user. If it is `nil`, the name in `typing` is used.
    public func text(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        let sentence = language.text(
            for: sentence(for: typing, name: name), verbs: language.verbs(of: typing.kind), isolating: true)
        return sentence.isEmpty || dots == .none
            ? sentence : sentence + language.words.typing.beforeDots + dots.rawValue
    }

    /// Returns the text for a screen reader: without dots, and without isolates, since it is spoken in logical order.
    public func label(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        language.text(
            for: sentence(for: typing, name: name), verbs: language.verbs(of: typing.kind), isolating: false)
    }
}

/// What the text says, independent of the language.
enum TypingSentence: Hashable {
    case nobody
    /// One user without a name.
    case someone
    /// These users, at least one.
    case names([String])
    /// These users, at least one, and one without a name.
    case namesAndSomeone([String])
    /// These users, at least one, and this many others.
    case namesAndOthers([String], Int)
    /// This many users, none with a name.
    case people(Int)
    case several
}

extension Typing {
    /// What all of them do; typing if that differs, or if some are not named.
    fileprivate var kind: TypingKind {
        guard let kind = typists.first?.kind, count <= typists.count else { return .typing }
        return typists.allSatisfy { $0.kind == kind } ? kind : .typing
    }
}

extension TypingText {
    func sentence(for typing: Typing, name: (UserID) -> String?) -> TypingSentence {
        let count = max(typing.count, typing.typists.count)
        guard count > 0 else { return .nobody }
        if let severalFrom, count >= max(2, severalFrom) { return .several }
        let names = names(of: typing.typists, name: name)
        let unnamed = count - names.count
        if count <= maximumNames, !names.isEmpty {
            if unnamed == 0 { return .names(names) }
            // One unnamed user beside named ones is "someone else"; several are counted.
            if unnamed == 1 { return .namesAndSomeone(names) }
        }
        let most = max(0, maximumNames)
        let named = Array(names.prefix(count > most ? min(2, most) : most))
        if named.isEmpty { return count == 1 ? .someone : .people(count) }
        return .namesAndOthers(named, count - named.count)
    }

    /// Returns the names of those users who have one, in the configured order.
    private func names(of typists: [Typist], name: (UserID) -> String?) -> [String] {
        let names = typists.compactMap { typist in
            name(typist.user).flatMap(shortened) ?? typist.name.flatMap(shortened)
        }
        switch order {
        case .beginning: return names
        case .name: return names.sorted(by: Collation(language).precedes)
        }
    }

    private func shortened(_ name: String) -> String? {
        DisplayName.shown(name, longest: longestName)
    }
}

extension Language {
    fileprivate func verbs(of kind: TypingKind) -> (one: String, several: String) {
        (words.typing.verb[kind], words.typing.verbs[kind])
    }

    /// Returns the sentence, without dots.
    ///
    /// - Parameters:
    ///   - verbs: what one of them does, and what several do.
    ///   - isolating: whether names are wrapped in isolates, so that they do not change the order of the text
    ///     around them. That matters on a screen, but not for a screen reader.
    func text(for sentence: TypingSentence, verbs: (one: String, several: String), isolating: Bool) -> String {
        let typing = words.typing
        func filled(_ phrase: String, _ placeholder: String = "", with value: String = "") -> String {
            phrase.filled([(placeholder, value), ("verb", verbs.one), ("verbs", verbs.several)])
        }
        func people(_ names: [String], and last: String? = nil, total: Int) -> String {
            let items = names.map { person($0, isolating: isolating) } + (last.map { [$0] } ?? [])
            guard total > 1 else { return filled(typing.one, "name", with: items[0]) }
            return filled(typing.list[plural.category(of: total)], "list", with: list.joined(items))
        }
        switch sentence {
        case .nobody: return ""
        case .someone: return filled(typing.someone)
        case .names(let names): return people(names, total: names.count)
        case .namesAndSomeone(let names): return people(names, and: typing.someoneElse, total: names.count + 1)
        case .namesAndOthers(let names, let others):
            return people(names, and: text(of: typing.others, count: others), total: names.count + others)
        case .people(let count): return filled(typing.people[plural.category(of: count)], "count", with: String(count))
        case .several: return filled(typing.several)
        }
    }

    /// Returns the form for this number, with the number inserted.
    func text(of forms: Forms, count: Int) -> String {
        forms[plural.category(of: count)].filled([("count", String(count))])
    }

    private func person(_ name: String, isolating: Bool) -> String {
        let isolates = isolating && (direction == .rightToLeft || DisplayName.isRightToLeft(name))
        return words.typing.person.filled([("name", isolates ? "\u{2068}\(name)\u{2069}" : name)])
    }
}

extension String {
    /// Returns this phrase with values in place of its `{placeholders}`. What is filled in is not filled again.
    func filled(_ values: [(placeholder: String, value: String)]) -> String {
        var (filled, rest) = ("", utf8[...])
        while let open = rest.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
        {
            let name = rest[open..<close].dropFirst()
            filled += self[rest.startIndex..<open]
            filled +=
                values.first { $0.placeholder.utf8.elementsEqual(name) }?.value ?? String(self[open...close])
            rest = rest[close...].dropFirst()
        }
        return filled + self[rest.startIndex...]
    }
}

/// The alphabetical order of a language, independent of the machine's locale.
struct Collation {
    private let locale: Locale

    init(_ language: Language) {
        locale = Locale(identifier: language.id)
    }

    /// Names that the language treats as equal are ordered by their code points, so that they never swap places.
    func precedes(_ left: String, _ right: String) -> Bool {
        switch left.compare(right, options: [.caseInsensitive, .numeric, .widthInsensitive], locale: locale) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
        }
    }
}

/// Decides when to announce who is typing: when the label changes, but what it announced not again within 5 s.
public struct TypingAnnouncer: Sendable {
    /// For how long the same people are not announced again.
    private static let pause = Duration.seconds(5)

    private let text: TypingText
    private var latest = ByteString("")
    /// When each label was announced last.
    private var announced: [ByteString: ContinuousClock.Instant] = [:]

    public init(_ text: TypingText = TypingText()) {
        self.text = text
    }

    /// - Returns: the label (``TypingText/label(for:name:)``); `nil` if there is nothing new to announce. Empty if no user is
    ///   typing any more.
    public mutating func announcement(
        for typing: Typing, at now: ContinuousClock.Instant = .now, name: (UserID) -> String? = { _ in nil }
    ) -> String? {
        let label = ByteString(text.label(for: typing, name: name))
        guard label != latest else { return nil }
        latest = label
        announced = announced.filter { now < $0.value + Self.pause }
        guard announced[label] == nil else { return nil }
        if !label.string.isEmpty { announced[label] = now }
        return label.string
    }
}

/// The animated dots at one moment.
public struct TypingDots: Hashable, Sendable {
    /// How long one dot's turn lasts.
    public static let turn = Duration.milliseconds(400)
    static let rest = 0.3

    /// Whose turn it is, from 0; `nil` if the dots do not move.
    public let phase: Int?
    /// The opacities of the dots, 0 to 1.
    public let opacities: [Double]

    /// - Parameters:
    ///   - elapsed: the time since the dots appeared.
    ///   - interval: how long one dot's turn lasts.
    ///   - count: how many dots there are.
    ///   - reducesMotion: whether the user prefers reduced motion. The dots then do not move.
    public init(
        after elapsed: Duration, interval: Duration = Self.turn, count: Int = 3, reducesMotion: Bool = false
    ) {
        let count = max(0, count)
        guard !reducesMotion, interval > .zero, count > 0 else {
            phase = nil
            opacities = Array(repeating: 1, count: count)
            return
        }
        let turns = max(0, elapsed / interval)
        let phase = Int(turns.truncatingRemainder(dividingBy: Double(count)))
        let part = turns.truncatingRemainder(dividingBy: 1)
        let swell = 4 * part * (1 - part)
        self.phase = phase
        opacities = (0..<count).map { $0 == phase ? Self.rest + (1 - Self.rest) * swell : Self.rest }
    }
}
