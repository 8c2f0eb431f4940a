// What the worker should serve by name (users, conversations), and what it was asked for on this connection.

/// What is wanted of a conversation besides who types there.
struct Parts: OptionSet {
    let rawValue: UInt8
    static let members = Parts(rawValue: 1)
    static let here = Parts(rawValue: 2)
}

/// How a worker refused: until it can, until something else has changed, or until something of the kind was given up.
enum Refusal {
    case forNow, forGood, limit
}

/// The difference between the names that are wanted and those that were asked for, each in a way (for conversations:
/// with which parts). What was refused is asked for again at ``retry(_:)``, as long as it is wanted, or, if a limit
/// forbids it, once another name was given up. Asking
/// twice and giving up twice do no harm.
struct Subscriptions<Name: Hashable & Comparable> {
    private struct Asked {
        let way: Parts
        /// The number of the message that asked.
        let message: Int64
        /// How often the name was refused before.
        let tries: Int
    }

    private var wanted: [Name: Parts] = [:]
    private var asked: [Name: Asked] = [:]
    private var refused: [Name: (refusal: Refusal, tries: Int)] = [:]
    private var due: Set<Name> = []
    private(set) var surplus: Set<Name> = []

    var hasDue: Bool { !due.isEmpty }
    var hasSurplus: Bool { !surplus.isEmpty }
    /// How many names count towards the worker's limit.
    var servedCount: Int { refused.isEmpty ? asked.count : asked.keys.count { refused[$0] == nil } }

    func isWanted(_ name: Name) -> Bool { wanted[name] != nil }
    func isDue(_ name: Name) -> Bool { due.contains(name) }
    func isServed(_ name: Name) -> Bool { asked[name] != nil && refused[name] == nil }
    /// The way in which a name was asked for; `nil` if it was not.
    func way(of name: Name) -> Parts? { asked[name]?.way }

    /// A name that was refused for good is asked for at once, because its view is new; otherwise not before a retry.
    mutating func want(_ name: Name, _ way: Parts = []) {
        wanted[name] = way
        surplus.remove(name)
        let isDue = refused[name].map { $0.refusal == .forGood } ?? (asked[name]?.way != way)
        if isDue { due.insert(name) } else { due.remove(name) }
    }

    mutating func unwant(_ name: Name) {
        wanted[name] = nil
        due.remove(name)
        if asked[name] != nil { surplus.insert(name) }
    }

    /// Handles that the worker does not serve a name. It counts only if nothing was asked of the name since.
    ///
    /// - Parameter message: the message that was refused; `nil` if the worker ended it by itself.
    /// - Returns: how often the name was refused before; `nil` if this does not count.
    mutating func refuse(_ name: Name, _ refusal: Refusal, message: Int64? = nil) -> Int? {
        guard let asked = asked[name], message == nil || message == asked.message else { return nil }
        refused[name] = (refusal, asked.tries)
        return asked.tries
    }

    mutating func retry(_ refusal: Refusal) {
        for (name, known) in refused where known.refusal == refusal {
            if isWanted(name) { due.insert(name) }
            // Race: the name may be given up and wanted anew before it is asked for. Then a new view asks for it at once.
            refused[name] = isWanted(name) || asked[name] != nil ? (.forGood, known.tries) : nil
        }
    }

    /// Handles the end of the connection, whose worker forgets everything.
    mutating func connectionLost() {
        (asked, refused, surplus, due) = ([:], [:], [], Set(wanted.keys))
    }

    /// Returns up to `most` names to ask for, in ascending order but those first that `isFirst` names, of which `room` may be
    /// new to the worker. Call ``ask(_:message:)`` for each that is asked for.
    func next(_ most: Int, room: Int, isFirst: (Name) -> Bool = { _ in false }) -> [Name] {
        guard most > 0, !due.isEmpty else { return [] }
        var (names, room) = ([Name](), room)
        let sorted = due.sorted()
        for name in sorted.filter(isFirst) + sorted.filter({ !isFirst($0) }) where names.count < most {
            let isNew = !isServed(name)
            guard !isNew || room > 0 else { continue }
            names.append(name)
            if isNew { room -= 1 }
        }
        return names
    }

    /// Handles that this message asks for the name.
    ///
    mutating func ask(_ name: Name, message: Int64) {
        asked[name] = Asked(way: wanted(name), message: message, tries: refused[name].map { $0.tries + 1 } ?? 0)
        refused[name] = nil
        due.remove(name)
    }

    /// In which way it is asked for next.
    func wanted(_ name: Name) -> Parts { wanted[name] ?? [] }

    /// Gives up these names of the surplus.
    mutating func giveUp(_ names: [Name]) {
        surplus.subtract(names)
        for name in names {
            asked[name] = nil
            if let known = refused[name], known.refusal != .forNow { refused[name] = nil }
        }
        if !names.isEmpty { retry(.limit) }
    }
}
