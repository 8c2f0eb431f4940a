// Sessions without a connection, oldest first: those in their grace period, and those whose device is gone but not
// written yet. Each usually ends within seconds; their number is limited.

/// Sessions in the order in which they lost their connections.
struct Lingering {
    private var sessions: [Session] = []
    /// The index of the first one that was not taken.
    private var first = 0
    private var mostOpen = 0

    /// The most sessions that may linger.
    func limit(_ bounds: ShardSettings.Bounds) -> Int {
        max(bounds.lingeringSessions, bounds.lingeringPerOpen * mostOpen)
    }

    /// - Parameter open: the number of open sessions before this one ended.
    mutating func append(_ session: Session, open: Int) {
        mostOpen = max(mostOpen, open)
        sessions.append(session)
    }

    /// Removes and returns the session that has lingered longest.
    mutating func popFirst() -> Session? {
        while first < sessions.count {
            defer { first += 1 }
            if !sessions[first].isOver { return sessions[first] }
        }
        return nil
    }

    /// Lets go of sessions that are over: all if no other lingers, otherwise once there are many.
    ///
    /// - Parameter count: the number of sessions that linger.
    mutating func compact(count: Int) {
        guard count > 0 else { return (sessions, first) = ([], 0) }
        while first < sessions.count, sessions[first].isOver { first += 1 }
        let rest = sessions.count - first
        guard first > rest + 64 || rest > 2 * count + 64 else { return }
        sessions = sessions[first...].filter { !$0.isOver }
        first = 0
    }
}
