// How many WebSockets the worker holds, over all its loops: the one thing that they must agree on.

import Synchronization

/// Seats, of which there are `limits.sessions`.
final class SessionCount: Sendable {
    private let limit: Int
    private let taken = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { taken.load(ordering: .relaxed) }

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
