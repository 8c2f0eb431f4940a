// Sorts names by the rules of a language. Only Foundation provides them.

import Foundation

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
