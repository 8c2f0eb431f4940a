// Identifiers for things within one process. They only have to be unique and ordered.

import NIOConcurrencyHelpers

/// A number that is unique in the process, and greater than all earlier ones.
struct SerialNumber: Hashable, Comparable, Sendable {
    private static let last = NIOLockedValueBox<UInt64>(0)
    private let number: UInt64

    init() {
        number = Self.last.withLockedValue {
            $0 += 1
            return $0
        }
    }

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
