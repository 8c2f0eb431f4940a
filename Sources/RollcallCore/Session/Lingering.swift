// Sessions without a connection, oldest first: those in their grace period, and those whose device is gone but not
// written yet. Each usually ends within seconds; their number is limited.

/// Sessions in the order in which they lost their connections.
struct Lingering: Sendable {
    private var keys: [SessionKey] = []
    /// The index of the first key that was not taken.
    private var first = 0
    private var mostOpen = 0

    /// The most sessions that may linger.
    func limit(_ bounds: ShardSettings.Bounds) -> Int {
        max(bounds.lingeringSessions, bounds.lingeringPerOpen * mostOpen)
    }

    /// - Parameter open: the number of open sessions before this one ended.
    mutating func append(_ key: SessionKey, open: Int) {
        mostOpen = max(mostOpen, open)
        keys.append(key)
    }

    /// Removes and returns the session that has lingered longest.
    mutating func popFirst(where exists: (SessionKey) -> Bool) -> SessionKey? {
        while first < keys.count {
            defer { first += 1 }
            if exists(keys[first]) { return keys[first] }
        }
        return nil
    }

    /// Drops the keys of sessions that are over, once there are many.
    ///
    /// - Parameter count: the number of sessions that linger.
    mutating func compact(count: Int, where exists: (SessionKey) -> Bool) {
        guard keys.count > 2 * count + 64 else { return }
        keys = keys[first...].filter(exists)
        first = 0
    }
}
