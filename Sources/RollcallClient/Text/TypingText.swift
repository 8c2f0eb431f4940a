// The line of text beneath a conversation: who is typing, as a sentence. What to say is decided apart from the words
// for it, so that another language brings only its words.

/// Turns the typists of a conversation into a line of text.
///
///     TypingText.english.text(for: typing)    // "Alice and Bob are typing…"
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
        /// By name, as the reader's collation has it.
        case name
    }

    /// English, with at most three names and an ellipsis.
    public static let english = TypingText()

    /// How many names at most. Of more typists than that, two are named and the rest counted.
    public var maximumNames = 3
    /// From how many typists on it says `Several people are typing…`; `nil`: never.
    public var severalFrom: Int?
    public var dots = Dots.ellipsis
    public var order = Order.beginning
    /// Names longer than this many characters are shortened.
    public var longestName = 40

    public init() {}

    /// The line; empty if nobody types.
    ///
    /// - Parameter name: the app's name for a user; where it has none, the one from the conversation's members counts.
    public func text(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        let sentence = sentence(for: typing, name: name)
        return sentence == .nobody ? "" : English.text(for: sentence) + dots.rawValue
    }

    /// The line without dots, for a screen reader.
    public func label(for typing: Typing, name: (UserID) -> String? = { _ in nil }) -> String {
        English.text(for: sentence(for: typing, name: name))
    }
}

/// What the line says, whatever the language.
enum TypingSentence: Hashable {
    case nobody
    /// One who has no name.
    case someone
    /// These people, one at least.
    case names([String])
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
        // One unknown person among known ones can still be told as such; more are told as a number.
        let shown = unnamed == 1 && count > 1 ? names + [English.someone] : names
        if shown.count == count, count <= maximumNames { return .names(shown) }
        let named = Array(names.prefix(count > maximumNames ? min(2, maximumNames) : maximumNames))
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
        case .name: return names.sorted(by: Collation.precedes)
        }
    }

    private func shortened(_ name: String) -> String? {
        DisplayName.shown(name, longest: longestName)
    }
}
