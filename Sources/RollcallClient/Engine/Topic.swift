// One thing that is observed, by however many: the worker is asked for it once.

/// The present state of one thing, and who wants to hear of it.
struct Topic<Value: Equatable> {
    private(set) var latest: Value?
    private var observers: [ObserverID: (Value) -> Void] = [:]

    init(latest: Value? = nil) {
        self.latest = latest
    }

    var isObserved: Bool { !observers.isEmpty }

    /// A new observer gets the latest value first.
    mutating func add(_ observer: ObserverID, _ hear: @escaping (Value) -> Void) {
        observers[observer] = hear
        if let latest { hear(latest) }
    }

    mutating func remove(_ observer: ObserverID) {
        observers[observer] = nil
    }

    /// Tells the observers, unless nothing changed.
    mutating func update(_ value: Value) {
        guard value != latest else { return }
        latest = value
        for hear in observers.values { hear(value) }
    }
}
