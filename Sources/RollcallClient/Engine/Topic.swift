// One thing that is observed, by however many: the worker is asked for it once.

/// The present state of one thing, and who wants to hear of it.
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

    /// Whether the worker must be asked for it for the sake of one of the observers.
    var isWatched: Bool { observers.values.contains { $0.isWatching } }

    /// A new observer gets the latest value first.
    ///
    /// - Parameter watching: false for an observer of what the worker tells unasked.
    mutating func add(_ observer: ObserverID, watching: Bool = true, _ hear: @escaping (Value) -> Void) {
        observers[observer] = Observer(isWatching: watching, hear: hear)
        if let latest { hear(latest) }
    }

    mutating func remove(_ observer: ObserverID) {
        observers[observer] = nil
    }

    /// Tells the observers, unless nothing changed.
    mutating func update(_ value: Value) {
        guard value != latest else { return }
        latest = value
        for observer in observers.values { observer.hear(value) }
    }
}
