// A language is a value: its words, and the rules by which numbers choose among them and names are joined. So an app
// changes a word, or brings a language that is missing here, as it would change any other setting.

/// A language in which Rollcall's texts can be said.
///
///     var language = Language.best(for: ["pt-BR", "en"])      // .portuguese
///     language.words.typing.someone = "Um colega está digitando"
///     TypingText(language: language).text(for: typing)
///
/// Whoever makes or changes one can ask for its ``problems`` in a test.
public struct Language: Sendable, Identifiable {
    public enum Direction: String, Hashable, Sendable, Codable {
        case leftToRight = "ltr"
        case rightToLeft = "rtl"
    }

    /// A BCP 47 tag, such as `de` or `zh-Hant`. It decides how names are sorted, too.
    public var id: String
    /// The language in its own words, for a list to choose from.
    public var name: String
    /// Where its script begins. Right to left isolates every name, see ``TypingText``.
    public var direction: Direction
    public var list: ListPattern
    public var plural: PluralRule
    public var words: Words

    public init(
        id: String, name: String, direction: Direction = .leftToRight, list: ListPattern, plural: PluralRule,
        words: Words
    ) {
        self.id = id
        self.name = name
        self.direction = direction
        self.list = list
        self.plural = plural
        self.words = words
    }

    /// What is wrong with it, a sentence each: phrases that are empty, lack a placeholder or have one that nothing
    /// fills. Nothing fails because of them, but people would read them.
    public var problems: [String] { words.problems }
}
