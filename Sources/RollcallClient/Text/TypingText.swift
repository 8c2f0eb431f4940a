// The text that says who is typing. What to say is decided separately from the words, so that a new language only needs
// words.

/// Turns the typing users of a conversation into a text.
///
///     TypingText.english.text(for: typing)                       // "Alice and Bob are typing…"
///     TypingText(language: .current).text(for: typing)           // "Alice und Bob schreiben …"
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
    public static let english = TypingText()

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

    public init(language: Language = .english) {
        self.language = language
    }

    /// Returns the text; empty if no user is typing.
    ///
    /// - Parameters:
    ///   - typing: who is typing.
    ///   - name: returns the app's name for a user. If it is `nil`, the name in `typing` is used.
    public func text(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        let sentence = language.text(for: sentence(for: typing, name: name), isolating: true)
        return sentence.isEmpty || dots == .none
            ? sentence : sentence + language.words.typing.beforeDots + dots.rawValue
    }

    /// Returns the text for a screen reader: without dots, and without isolates, since it is spoken in logical order.
    public func label(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        language.text(for: sentence(for: typing, name: name), isolating: false)
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
