// Sessions without a connection, oldest first: those in grace, and those whose device is gone and whose record is still
// to be written. Usually each is over within seconds; how many there can be is bounded all the same.

/// The order in which sessions lost their connections.
struct Lingering: Sendable {
    private var keys: [SessionKey] = []
    /// How many of `keys` were taken.
    private var first = 0
    private var mostOpen = 0

    /// The most sessions that may linger.
    func limit(_ bounds: ShardSettings.Bounds) -> Int {
        max(bounds.lingeringSessions, bounds.lingeringPerOpen * mostOpen)
    }

    /// - Parameter open: how many sessions were open before this one ended.
    mutating func append(_ key: SessionKey, open: Int) {
        mostOpen = max(mostOpen, open)
        keys.append(key)
    }

    /// Takes the session that has lingered longest.
    mutating func popFirst(where exists: (SessionKey) -> Bool) -> SessionKey? {
        while first < keys.count {
            defer { first += 1 }
            if exists(keys[first]) { return keys[first] }
        }
        return nil
    }

    /// Drops the keys of sessions that are over, once there are many.
    ///
    /// - Parameter count: how many sessions linger.
    mutating func compact(count: Int, where exists: (SessionKey) -> Bool) {
        guard keys.count > 2 * count + 64 else { return }
        keys = keys[first...].filter(exists)
        first = 0
    }
}
