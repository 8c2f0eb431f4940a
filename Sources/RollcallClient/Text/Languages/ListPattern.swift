// How names are joined to a list. The patterns are the "standard" list patterns of Unicode CLDR 44.

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

    public init(pair: String, middle: String, last: String, before: Before? = nil) {
        self.pair = pair
        self.middle = middle
        self.last = last
        self.before = before
    }

    /// A word for "and" that depends on how the next item begins: Spanish *y* becomes *e* before the sound of *i*.
    public struct Before: Hashable, Sendable, Codable {
        /// The beginnings to which this applies, in lower case.
        public var starts: [String]
        /// Beginnings that are excluded although they match ``starts``: *hielo* begins with the sound of *y*.
        public var except: [String]
        public var use: String

        public init(starts: [String], except: [String] = [], use: String) {
            self.starts = starts
            self.except = except
            self.use = use
        }
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
