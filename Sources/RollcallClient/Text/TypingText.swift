// The line of text beneath a conversation: who is typing, as a sentence. What to say is decided apart from the words
// for it, so that another language brings only its words.

/// Turns the typists of a conversation into a line of text.
///
///     TypingText.english.text(for: typing)                       // "Alice and Bob are typing…"
///     TypingText(language: .current).text(for: typing)           // "Alice und Bob schreiben …"
///
/// A name is isolated (U+2068, U+2069) if the language is written from right to left, or if the name has a letter that
/// is, so that neither turns the other's order round. Directional controls in names are dropped.
public struct TypingText: Sendable {
    /// What stands at the end of the sentence.
    public enum Dots: String, Hashable, Sendable, CaseIterable {
        /// `…`
        case ellipsis = "…"
        /// `...`
        case three = "..."
        /// Nothing, where dots are animated beside it.
        case none = ""
    }

    public enum Order: Hashable, Sendable, CaseIterable {
        /// By when they began.
        case beginning
        /// By name, as the language sorts names.
        case name
    }

    /// English, with at most three names and an ellipsis.
    public static let english = TypingText()

    public var language: Language
    /// How many names at most. Of more typists than that, two are named and the rest counted.
    public var maximumNames = 3
    /// From how many typists on it says `Several people are typing…`; `nil`: never.
    public var severalFrom: Int?
    public var dots = Dots.ellipsis
    public var order = Order.beginning
    /// Names longer than this many characters are shortened.
    public var longestName = 40

    public init(language: Language = .english) {
        self.language = language
    }

    /// The line; empty if nobody types. Where the app has no name for a user, the one from the conversation's members
    /// counts.
    public func text(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        let sentence = language.text(for: sentence(for: typing, name: name), isolating: true)
        return sentence.isEmpty || dots == .none
            ? sentence : sentence + language.words.typing.beforeDots + dots.rawValue
    }

    /// The line for a screen reader: without dots, and without isolates, since it is spoken in the order of its letters.
    public func label(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        language.text(for: sentence(for: typing, name: name), isolating: false)
    }
}

/// What the line says, whatever the language.
enum TypingSentence: Hashable {
    case nobody
    /// One who has no name.
    case someone
    /// These people, one at least.
    case names([String])
    /// These people, one at least, and one who has no name.
    case namesAndSomeone([String])
    /// These people, one at least, and so many others.
    case namesAndOthers([String], Int)
    /// So many people of whom none has a name.
    case people(Int)
    case several
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
            // One unknown person among known ones can still be told as such; more are told as a number.
            if unnamed == 1 { return .namesAndSomeone(names) }
        }
        let most = max(0, maximumNames)
        let named = Array(names.prefix(count > most ? min(2, most) : most))
        if named.isEmpty { return count == 1 ? .someone : .people(count) }
        return .namesAndOthers(named, count - named.count)
    }

    /// The names of those who have one, in the order asked for.
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
