// A phrase that depends on a number.

/// The forms of a phrase by plural category. ``other`` is required, and replaces missing categories.
public struct Forms: Hashable, Sendable {
    public var other: String
    private var special: [PluralCategory: String]

    public init(
        zero: String? = nil, one: String? = nil, two: String? = nil, few: String? = nil, many: String? = nil,
        other: String
    ) {
        self.other = other
        let forms = [(PluralCategory.zero, zero), (.one, one), (.two, two), (.few, few), (.many, many)]
        special = Dictionary(uniqueKeysWithValues: forms.compactMap { category, form in form.map { (category, $0) } })
    }

    public subscript(category: PluralCategory) -> String { special[category] ?? other }

    var all: [String] { special.values + [other] }
}

extension Forms: ExpressibleByStringLiteral {
    /// Creates one form for all numbers.
    public init(stringLiteral other: String) {
        self.init(other: other)
    }
}

extension Forms: Codable {
    public init(from decoder: any Decoder) throws {
        special = try decoder.singleValueContainer().decode([PluralCategory: String].self)
        guard let other = special.removeValue(forKey: .other) else {
            throw DecodingError.valueNotFound(
                String.self, .init(codingPath: decoder.codingPath, debugDescription: "The form `other` is missing."))
        }
        self.other = other
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(special.merging([.other: other]) { $1 })
    }
}
