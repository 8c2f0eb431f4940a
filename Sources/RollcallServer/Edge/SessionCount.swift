// Counts sessions over all event loops, for `limits.sessions`. A connection takes a seat when its token is accepted,
// and releases it when it starts to close, so that unauthenticated clients take no seats.

import Synchronization

/// The seats for sessions, at most `limits.sessions`.
final class SessionCount: Sendable {
    private let limit: Int
    private let taken = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { taken.load(ordering: .relaxed) }

    /// Whether a seat is free.
    var hasRoom: Bool { count < limit }

    /// - Returns: `false` if all seats are taken. Release each seat exactly once.
    func take() -> Bool {
        guard taken.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
        release()
        return false
    }

    func release() {
        taken.wrappingSubtract(1, ordering: .relaxed)
    }
}
