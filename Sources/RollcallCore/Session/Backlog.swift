// What a session still has to be sent, as names instead of messages. Its size is bounded by what the session follows,
// however often that changes, and the session gets the newest state. See docs/decisions/0007-slow-readers.md.

internal import RollcallModel

/// The subjects whose current state a session still has to be sent, in order.
///
/// Snapshots wait here until they are known. While the connection is backed up, snapshots and changes both wait.
struct Backlog: Sendable {
    enum Subject: Hashable, Sendable {
        case user(WatchKey)
        case room(RoomKey)
        case members(RoomKey)
    }

    struct Debt: Hashable, Sendable {
        var subject: Subject
        /// The user's presence that the session saw before a change it missed; `nil` if the state must be sent in any
        /// case.
        var seen: Presence.Look?
    }

    /// A `get` that was not sent to Redis yet.
    struct Get: Hashable, Sendable {
        var users: [UserID]
        var id: MessageID?
    }

    private struct Place: Hashable, Sendable {
        var turn: Int
        var seen: Presence.Look?
    }

    /// Whether the queue is blocked because earlier messages are still unsent.
    var isHeld = false
    var gets: [Get] = []
    private(set) var promises: [(turn: Int, id: MessageID)] = []
    private var places: [Subject: Place] = [:]
    /// Turns grow. An entry is stale if its subject was removed, or was added again with a later turn.
    private(set) var queue: [(turn: Int, subject: Subject)] = []
    private var turn = 0

    var isEmpty: Bool { !isHeld && gets.isEmpty && promises.isEmpty && places.isEmpty }

    func owes(_ subject: Subject) -> Bool { places[subject] != nil }

    /// Adds a subject that must be sent, regardless of what the session saw before.
    mutating func owe(_ subject: Subject) {
        if !enqueue(subject, seen: nil) { places[subject]?.seen = nil }
    }

    /// Adds several subjects in this order.
    mutating func owe(_ subjects: [Subject]) {
        for subject in subjects { owe(subject) }
    }

    /// Notes that the session missed a change of this subject.
    ///
    /// - Parameter seen: the user's presence before the change.
    /// - Returns: whether this is the first missed change. Later ones replace it, since only the newest state is sent.
    mutating func missed(_ subject: Subject, seen: Presence.Look?) -> Bool {
        enqueue(subject, seen: seen)
    }

    /// Removes a subject that the session stopped following.
    mutating func forgive(_ subject: Subject) {
        guard places.removeValue(forKey: subject) != nil, queue.count > 2 * places.count + 16 else { return }
        queue = queue.filter(stands)
    }

    /// Removes and returns the next subjects to send.
    ///
    /// - Parameter isKnown: returns false for subjects whose state is not known yet; they stay and keep their turn.
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

    /// Registers an acknowledgement that follows everything queued so far.
    mutating func promise(_ id: MessageID) {
        promises.append((turn, id))
    }

    /// Removes and returns the acknowledgements that are due.
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
