// A language is a value: its words, its plural rule, and how it joins names. An app can change a word, or add a
// language, like any other setting.

/// A language for Rollcall's texts.
///
///     var language = Language.best(for: ["pt-BR", "en"])      // .portuguese
///     language.words.typing.someone = "Um colega está digitando"
///     TypingText(language: language).text(for: typing)
///
/// If you change or create a language, test that ``problems`` is empty.
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

    /// The problems of the phrases, one sentence each: a phrase is empty, lacks a placeholder, or has one that is never
    /// filled. The texts still work, but users would see the mistakes.
    public var problems: [String] { words.problems }
}
