// What a session is still to be shown: names instead of messages. So what waits for a slow reader is bounded by what it
// follows, however much changes meanwhile, and what goes out in the end is the newest.

internal import RollcallModel

/// Of what a session is owed the present state, in the order in which it came to be owed.
///
/// Snapshots wait here until they are known, and both snapshots and changes while the connection is backed up.
struct Backlog: Sendable {
    enum Subject: Hashable, Sendable {
        case user(WatchKey)
        case room(RoomKey)
        case members(RoomKey)
    }

    struct Debt: Hashable, Sendable {
        var subject: Subject
        /// How the session last saw a user of whom it missed a change; `nil` if it is owed the state in any case.
        var seen: Presence.Look?
    }

    /// A `get` that is not asked yet.
    struct Get: Hashable, Sendable {
        var users: [UserID]
        var id: MessageID?
    }

    private struct Place: Hashable, Sendable {
        var turn: Int
        var seen: Presence.Look?
    }

    /// Whether nothing of what waits may go out: what was sent before is still on its way.
    var isHeld = false
    var gets: [Get] = []
    private(set) var promises: [(turn: Int, id: MessageID)] = []
    private var places: [Subject: Place] = [:]
    /// Turns grow; an entry whose subject has left, or come again at a later turn, counts no more.
    private(set) var queue: [(turn: Int, subject: Subject)] = []
    private var turn = 0

    var isEmpty: Bool { !isHeld && gets.isEmpty && promises.isEmpty && places.isEmpty }

    func owes(_ subject: Subject) -> Bool { places[subject] != nil }

    /// The session is to be shown this, whatever it saw before.
    mutating func owe(_ subject: Subject) {
        if !enqueue(subject, seen: nil) { places[subject]?.seen = nil }
    }

    /// The same of several, in this order.
    mutating func owe(_ subjects: [Subject]) {
        for subject in subjects { owe(subject) }
    }

    /// The session missed a change of this.
    ///
    /// - Parameter seen: how a user looked before.
    /// - Returns: whether it is the first; a further one takes its place, since only the newest state is shown.
    mutating func missed(_ subject: Subject, seen: Presence.Look?) -> Bool {
        enqueue(subject, seen: seen)
    }

    /// The session does not follow this any more.
    mutating func forgive(_ subject: Subject) {
        guard places.removeValue(forKey: subject) != nil, queue.count > 2 * places.count + 16 else { return }
        queue = queue.filter(stands)
    }

    /// Takes what is to be shown next.
    ///
    /// - Parameter isKnown: what is not known yet stays, and keeps its turn.
    mutating func take(_ limit: Int, isKnown: (Subject) -> Bool) -> [Debt] {
        var taken: [Debt] = []
        var unknown: [(turn: Int, subject: Subject)] = []
        var looked = 0
        while looked < queue.count, taken.count < limit {
            let entry = queue[looked]
            looked += 1
            guard stands(entry) else { continue }
            if isKnown(entry.subject) {
                taken.append(Debt(subject: entry.subject, seen: places.removeValue(forKey: entry.subject)?.seen))
            } else {
                unknown.append(entry)
            }
        }
        queue.replaceSubrange(..<looked, with: unknown)
        return taken
    }

    /// Acknowledges a message once all that is owed by now has been shown.
    mutating func promise(_ id: MessageID) {
        promises.append((turn, id))
    }

    /// Takes the acknowledgements whose time has come.
    mutating func takeKeptPromises() -> [MessageID] {
        guard !promises.isEmpty else { return [] }
        let oldest = queue.first(where: stands)?.turn ?? .max
        let kept = promises.prefix { $0.turn < oldest }
        promises.removeFirst(kept.count)
        return kept.map(\.id)
    }

    private mutating func enqueue(_ subject: Subject, seen: Presence.Look?) -> Bool {
        guard places[subject] == nil else { return false }
        turn += 1
        places[subject] = Place(turn: turn, seen: seen)
        queue.append((turn, subject))
        return true
    }

    private func stands(_ entry: (turn: Int, subject: Subject)) -> Bool { places[entry.subject]?.turn == entry.turn }
}
