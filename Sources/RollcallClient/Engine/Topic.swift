// One observed thing. The worker is asked for it once, independent of the number of observers.

/// The current state of one thing, and its observers.
struct Topic<Value: Equatable> {
    private(set) var latest: Value?
    private var observers: [ObserverID: Observer] = [:]

    private struct Observer {
        let isWatching: Bool
        let hear: (Value) -> Void
    }

    init(latest: Value? = nil) {
        self.latest = latest
    }

    var isObserved: Bool { !observers.isEmpty }

    /// Whether any observer requires that the worker is asked for it.
    var isWatched: Bool { observers.values.contains { $0.isWatching } }

    /// Adds an observer, which gets the latest value at once, if there is one.
    ///
    /// - Parameter watching: false if the worker sends the values without being asked.
    mutating func add(_ observer: ObserverID, watching: Bool = true, _ hear: @escaping (Value) -> Void) {
        observers[observer] = Observer(isWatching: watching, hear: hear)
        if let latest { hear(latest) }
    }

    mutating func remove(_ observer: ObserverID) {
        observers[observer] = nil
    }

    /// Stores the value and passes it to the observers, if it has changed.
    mutating func update(_ value: Value) {
        guard value != latest else { return }
        latest = value
        for observer in observers.values { observer.hear(value) }
    }
}
