// Counting by kind: how often each of several things has happened, for those who operate it.

/// How often each case of something has occurred.
package struct Counts<Case: Hashable & Sendable>: Hashable, Sendable {
    /// Of each that has occurred, how often.
    package private(set) var occurred: [Case: Int] = [:]

    package init() {}

    package subscript(_ counted: Case) -> Int { occurred[counted] ?? 0 }

    /// Of all together.
    package var total: Int { occurred.values.reduce(0, +) }

    package mutating func count(_ counted: Case, times: Int = 1) {
        occurred[counted, default: 0] += times
    }
}
