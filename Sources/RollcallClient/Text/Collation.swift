// Names in the order in which a language has them, which only Foundation knows.

import Foundation

/// The alphabetical order of a language, whatever the machine's own.
struct Collation {
    private let locale: Locale

    init(_ language: Language) {
        locale = Locale(identifier: language.id)
    }

    /// Two names that the language does not tell apart still have one order, so that they never swap places.
    func precedes(_ left: String, _ right: String) -> Bool {
        switch left.compare(right, options: [.caseInsensitive, .numeric, .widthInsensitive], locale: locale) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
        }
    }
}
