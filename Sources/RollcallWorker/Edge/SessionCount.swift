// How many sessions the worker holds, over all its loops: the one thing that they must agree on. A connection takes a
// seat when its token is found good, and gives it back when it begins to close, so that strangers take nobody's place.

import Synchronization

/// Seats, of which there are `limits.sessions`.
final class SessionCount: Sendable {
    private let limit: Int
    private let taken = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { taken.load(ordering: .relaxed) }

    /// Whether somebody who came now would find a seat.
    var hasRoom: Bool { count < limit }

    /// - Returns: false if all seats are taken. Each seat taken is released once.
    func take() -> Bool {
        guard taken.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        release()
        return false
    }

    func release() {
        taken.wrappingSubtract(1, ordering: .relaxed)
    }
}
