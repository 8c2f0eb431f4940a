/// Closures to call when a route changes.
struct RouteWatchers: Sendable {
    private var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]

    mutating func add(_ watcher: ObjectIdentifier, _ moved: @escaping @Sendable () -> Void) {
        watchers[watcher] = moved
    }

    mutating func remove(_ watcher: ObjectIdentifier) {
        watchers[watcher] = nil
    }

    func tell() {
        for moved in watchers.values { moved() }
    }
}
