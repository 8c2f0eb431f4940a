// The difference between what the worker should serve and what it was asked for on this connection. Sending the
// difference brings a connection up to date, including a new one, on which nothing was asked for yet.

/// The names (users or conversations) that this client wants the worker to serve, and those that it was asked for.
///
/// Messages are numbered in the order in which they were sent. Answers may arrive in any order, so a refusal counts
/// only for names that no later message asked for.
struct Wanted<Name: Hashable & Comparable> {
    /// The messages that asked for a name since it was last given up. The worker serves the name unless it refuses them
    /// all.
    private struct Asked {
        let first: Int64
        /// How many of them were not refused.
        var count = 0
    }

    private var wanted: Set<Name> = []
    /// What the worker was asked for and has not refused.
    private var told: [Name: Asked] = [:]
    /// What workers served on earlier connections and is still wanted. It is asked for first on the next connection. If
    /// not everything fits, what is already shown is then still updated.
    private var served: Set<Name> = []
    private var missing: Set<Name> = []
    private var surplus: Set<Name> = []
    /// Refused for now. These are not asked for before ``retry()``, even if they are given up and wanted again until
    /// then.
    private var delayed: Set<Name> = []
    /// What the worker refused for now to give up, and was not asked to give up since. It may serve these even if it
    /// refuses new requests for them.
    private var lingering: Set<Name> = []

    /// How many names the worker was asked for.
    var toldCount: Int { told.count }
    var hasMissing: Bool { !missing.isEmpty }
    var hasSurplus: Bool { !surplus.isEmpty }

    func wants(_ name: Name) -> Bool { wanted.contains(name) }
    func wasTold(_ name: Name) -> Bool { told[name] != nil }
    func isMissing(_ name: Name) -> Bool { missing.contains(name) }

    mutating func want(_ name: Name) {
        wanted.insert(name)
        surplus.remove(name)
        if told[name] == nil, !delayed.contains(name) { missing.insert(name) }
    }

    mutating func unwant(_ name: Name) {
        wanted.remove(name)
        missing.remove(name)
        served.remove(name)
        if told[name] != nil || lingering.contains(name) && !delayed.contains(name) { surplus.insert(name) }
    }

    /// Handles that the worker does not serve this name. It is not asked for again before the next connection or
    /// ``want(_:)``.
    mutating func refused(_ name: Name) {
        told[name] = nil
        served.remove(name)
        surplus.remove(name)
        delayed.remove(name)
        lingering.remove(name)
    }

    /// Whether a refusal of this message applies to what the worker serves of the name now.
    func isRefused(_ name: Name, by message: Int64) -> Bool { told[name].map { $0.first <= message } ?? false }

    /// Handles that the worker refused for now to serve what this message asked for.
    mutating func refusedForNow(_ names: [Name], by message: Int64) {
        for name in names where isRefused(name, by: message) {
            told[name]?.count -= 1
            guard told[name]?.count == 0 else { continue }
            told[name] = nil
            served.remove(name)
            surplus.remove(name)
            delayed.insert(name)
        }
    }

    /// Handles that the worker refused for now to give these up.
    mutating func keptForNow(_ names: [Name]) {
        lingering.formUnion(names)
    }

    /// Makes everything that was refused for now due again.
    mutating func retry() {
        missing.formUnion(delayed.intersection(wanted))
        surplus.formUnion(lingering.subtracting(wanted))
        delayed = []
    }

    /// Handles the loss of the connection, on which everything was requested.
    mutating func connectionLost() {
        served.formUnion(told.keys)
        served.formIntersection(wanted)
        told = [:]
        missing = wanted
        (surplus, delayed, lingering) = ([], [], [])
    }

    /// Whether any of the ready names must be asked for or given up.
    func isDue(where isReady: (Name) -> Bool) -> Bool {
        missing.contains(where: isReady) || surplus.contains(where: isReady)
    }

    /// Notes that a name was asked for together with something else.
    mutating func told(_ name: Name, by message: Int64) {
        missing.remove(name)
        delayed.remove(name)
        told[name, default: Asked(first: message)].count += 1
    }

    /// Removes and returns up to `limit` names to ask for with this message. They count as asked for from now on.
    mutating func takeMissing(
        _ limit: Int, by message: Int64, where isReady: (Name) -> Bool = { _ in true }
    ) -> [Name] {
        let names = nextMissing(limit, where: isReady)
        for name in names { told(name, by: message) }
        return names
    }

    /// Returns up to `limit` names to ask for, in ascending order. If there are more, those that were served before
    /// come first.
    func nextMissing(_ limit: Int, where isReady: (Name) -> Bool = { _ in true }) -> [Name] {
        let names = missing.filter(isReady).sorted()
        guard !served.isEmpty, names.count > limit else { return Array(names.prefix(limit)) }
        return Array((names.filter(served.contains) + names.filter { !served.contains($0) }).prefix(limit))
    }

    /// Removes and returns up to `limit` names to give up.
    mutating func takeSurplus(_ limit: Int, where isReady: (Name) -> Bool = { _ in true }) -> [Name] {
        let names = Array(surplus.filter(isReady).sorted().prefix(limit))
        surplus.subtract(names)
        lingering.subtract(names)
        for name in names { told[name] = nil }
        return names
    }
}
