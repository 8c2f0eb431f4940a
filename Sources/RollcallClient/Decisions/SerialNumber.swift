// Names for things of one process that need no other property than to differ.

import NIOConcurrencyHelpers

/// A number that no other has, greater than those before it.
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
