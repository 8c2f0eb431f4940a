// The difference between what should hold at the worker and what it was told on this connection. A connection is
// brought up to date by sending the difference, and so is a new one, which was told nothing.

/// Names that this client wants the worker to serve, beside those that it has asked for.
struct Wanted<Name: Hashable & Comparable> {
    private var wanted: Set<Name> = []
    private var told: Set<Name> = []
    private var missing: Set<Name> = []
    private var surplus: Set<Name> = []

    /// How many the worker has been asked for.
    var toldCount: Int { told.count }
    var hasMissing: Bool { !missing.isEmpty }
    var hasSurplus: Bool { !surplus.isEmpty }

    func wants(_ name: Name) -> Bool { wanted.contains(name) }
    func wasTold(_ name: Name) -> Bool { told.contains(name) }
    func isMissing(_ name: Name) -> Bool { missing.contains(name) }

    mutating func want(_ name: Name) {
        wanted.insert(name)
        surplus.remove(name)
        if !told.contains(name) { missing.insert(name) }
    }

    mutating func unwant(_ name: Name) {
        wanted.remove(name)
        missing.remove(name)
        if told.contains(name) { surplus.insert(name) }
    }

    /// The worker does not serve it: not asked for again before the next connection or ``want(_:)``.
    mutating func refused(_ name: Name) {
        told.remove(name)
        surplus.remove(name)
    }

    /// The connection is gone, and with it all that its worker knew.
    mutating func connectionLost() {
        told = []
        surplus = []
        missing = wanted
    }

    /// Whether one of those is missing or surplus.
    func isDue(where isReady: (Name) -> Bool) -> Bool {
        missing.contains(where: isReady) || surplus.contains(where: isReady)
    }

    /// It was asked for beside something else.
    mutating func told(_ name: Name) {
        missing.remove(name)
        told.insert(name)
    }

    /// Up to `limit` names to ask for, smallest first, which count as told from now on.
    mutating func takeMissing(_ limit: Int, where isReady: (Name) -> Bool = { _ in true }) -> [Name] {
        let names = Array(missing.filter(isReady).sorted().prefix(limit))
        missing.subtract(names)
        told.formUnion(names)
        return names
    }

    /// Up to `limit` names to give up.
    mutating func takeSurplus(_ limit: Int, where isReady: (Name) -> Bool = { _ in true }) -> [Name] {
        let names = Array(surplus.filter(isReady).sorted().prefix(limit))
        surplus.subtract(names)
        told.subtract(names)
        return names
    }
}
