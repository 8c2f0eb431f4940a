// Which form of a phrase a number requires. The categories and rules are those of Unicode CLDR 48, "Language Plural
// Rules", cardinals: https://www.unicode.org/cldr/charts/48/supplemental/language_plural_rules.html
// Numbers are whole and not negative here, so CLDR's rules for fractions are omitted. So is the category `many` of
// French, Italian, Portuguese and Spanish, which begins at a million and applies to words ("a million of").

/// CLDR's plural categories. The names are historical: which numbers are `few` depends on the language.
public enum PluralCategory: String, Hashable, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
    case zero, one, two, few, many, other
}

/// Chooses the ``PluralCategory`` of a number.
public struct PluralRule: Sendable {
    private let rule: @Sendable (Int) -> PluralCategory

    /// - Parameter rule: returns the category of a number, which is 0 or greater.
    public init(_ rule: @escaping @Sendable (Int) -> PluralCategory) {
        self.rule = rule
    }

    public func category(of count: Int) -> PluralCategory { rule(max(0, count)) }
}

extension PluralRule {
    /// One form for all numbers: Chinese, Japanese, Korean.
    public static let invariant = Self { _ in .other }

    /// `one` for 1: English, Dutch, German, Italian, Spanish, Turkish, and most other European languages.
    public static let one = Self { $0 == 1 ? .one : .other }

    /// `one` for 0 and 1: French, Hindi, Portuguese.
    public static let zeroAndOne = Self { $0 <= 1 ? .one : .other }

    /// `one` for 1, `two` for 2: Hebrew.
    public static let dual = Self { $0 == 1 ? .one : $0 == 2 ? .two : .other }

    /// `one`, `few` or `many` by the last two digits: Russian, Ukrainian.
    public static let eastSlavic = Self { count in
        switch (count % 10, count % 100) {
        case (1, let end) where end != 11: .one
        case (2...4, let end) where !(12...14).contains(end): .few
        default: .many
        }
    }

    /// Like ``eastSlavic``, but `one` applies only to the number 1.
    public static let polish = Self { count in
        switch (count % 10, count % 100) {
        case _ where count == 1: .one
        case (2...4, let end) where !(12...14).contains(end): .few
        default: .many
        }
    }

    /// All six categories: 0, 1, 2, then by the last two digits.
    public static let arabic = Self { count in
        switch count % 100 {
        case _ where count == 0: .zero
        case _ where count == 1: .one
        case _ where count == 2: .two
        case 3...10: .few
        case 11...99: .many
        default: .other
        }
    }
}
