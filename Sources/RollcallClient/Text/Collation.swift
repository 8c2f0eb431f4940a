// Names in the order in which the reader's language has them, which only Foundation knows.

import Foundation

enum Collation {
    /// Two names that the language does not tell apart still have one order, so that they never swap places.
    static func precedes(_ left: String, _ right: String) -> Bool {
        switch left.localizedStandardCompare(right) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
        }
    }
}
