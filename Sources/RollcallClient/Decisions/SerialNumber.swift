// Names for things of one process that need no other property than to differ.

import NIOConcurrencyHelpers

/// A number that no other has.
struct SerialNumber: Hashable, Sendable {
    private static let last = NIOLockedValueBox<UInt64>(0)
    private let number: UInt64

    init() {
        number = Self.last.withLockedValue {
            $0 += 1
            return $0
        }
    }
}
