// The difference between what should hold at the worker and what it was told on this connection. A connection is
// brought up to date by sending the difference, and so is a new one, which was told nothing.

/// The names that this client wants the worker to serve, and those that the worker was asked for.
///
/// Messages are numbered in the order in which they were sent. Answers may come in any order, so a refusal counts only
/// for names of which no later message speaks.
struct Wanted<Name: Hashable & Comparable> {
    /// The messages that have asked for a name since it was last given up. The worker serves it unless it refuses them all.
    private struct Asked {
        let first: Int64
        /// How many of them were not refused.
        var count = 0
    }

    private var wanted: Set<Name> = []
    /// What the worker was asked for, and has not refused.
    private var told: [Name: Asked] = [:]
    /// What a worker has served on earlier connections: it comes first on the next, so that where not all that is wanted may be
    /// had, nothing stands on a screen of which nobody tells any more.
    private var served: Set<Name> = []
    private var missing: Set<Name> = []
    private var surplus: Set<Name> = []
    /// Refused for now: not asked for before ``retry()``, however often they are given up and wanted anew until then.
    private var delayed: Set<Name> = []
    /// The worker refused for now to give these up, and was not asked to since. It may serve them although it refuses
    /// what asks for them anew.
    private var lingering: Set<Name> = []

    /// How many the worker has been asked for.
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

    /// The worker does not serve it: not asked for again before the next connection or ``want(_:)``.
    mutating func refused(_ name: Name) {
        told[name] = nil
        served.remove(name)
        surplus.remove(name)
        delayed.remove(name)
        lingering.remove(name)
    }

    /// Whether a refusal of this message is about the name as the worker knows it now.
    func isRefused(_ name: Name, by message: Int64) -> Bool { told[name].map { $0.first <= message } ?? false }

    /// The worker refused for now to serve what this message asked for.
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

    /// The worker refused for now to give these up.
    mutating func keptForNow(_ names: [Name]) {
        lingering.formUnion(names)
    }

    /// What was refused for now is due again.
    mutating func retry() {
        missing.formUnion(delayed.intersection(wanted))
        surplus.formUnion(lingering.subtracting(wanted))
        delayed = []
    }

    /// The connection is gone, and with it all that its worker knew.
    mutating func connectionLost() {
        served.formUnion(told.keys)
        served.formIntersection(wanted)
        told = [:]
        missing = wanted
        (surplus, delayed, lingering) = ([], [], [])
    }

    /// Whether one of those is missing or surplus.
    func isDue(where isReady: (Name) -> Bool) -> Bool {
        missing.contains(where: isReady) || surplus.contains(where: isReady)
    }

    /// It was asked for beside something else.
    mutating func told(_ name: Name, by message: Int64) {
        missing.remove(name)
        delayed.remove(name)
        told[name, default: Asked(first: message)].count += 1
    }

    /// Up to `limit` names to ask for with this message, which count as told from now on.
    mutating func takeMissing(
        _ limit: Int, by message: Int64, where isReady: (Name) -> Bool = { _ in true }
    ) -> [Name] {
        let names = nextMissing(limit, where: isReady)
        for name in names { told(name, by: message) }
        return names
    }

    /// Up to `limit` names that are to be asked for: those that were served before, then the others, smallest first.
    func nextMissing(_ limit: Int, where isReady: (Name) -> Bool = { _ in true }) -> [Name] {
        let names = missing.filter(isReady).sorted()
        guard !served.isEmpty, names.count > limit else { return Array(names.prefix(limit)) }
        return Array((names.filter(served.contains) + names.filter { !served.contains($0) }).prefix(limit))
    }

    /// Up to `limit` names to give up.
    mutating func takeSurplus(_ limit: Int, where isReady: (Name) -> Bool = { _ in true }) -> [Name] {
        let names = Array(surplus.filter(isReady).sorted().prefix(limit))
        surplus.subtract(names)
        lingering.subtract(names)
        for name in names { told[name] = nil }
        return names
    }
}
