// Counts how often each of several things has happened, for metrics.

/// How often each case of something has occurred.
package struct Counts<Case: Hashable & Sendable>: Hashable, Sendable {
    /// The counts of the cases that have occurred.
    package private(set) var occurred: [Case: Int] = [:]

    package init() {}

    package subscript(_ counted: Case) -> Int { occurred[counted] ?? 0 }

    /// The sum of all counts.
    package var total: Int { occurred.values.reduce(0, +) }

    package mutating func count(_ counted: Case, times: Int = 1) {
        occurred[counted, default: 0] += times
    }
}
