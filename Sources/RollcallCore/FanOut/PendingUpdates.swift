// What a session still has to be sent, as names instead of messages. Its size is bounded by what the session follows,
// however often that changes, and the session gets the newest state. See docs/decisions/0007-slow-readers.md.

internal import RollcallProtocol

/// The subjects whose current state a session still has to be sent, in order.
///
/// Snapshots wait here until they are known. While the connection is backed up, snapshots and changes both wait.
final class PendingUpdates {
    enum Subject: Hashable {
        case user(Watch)
        case room(Room)
        case members(Room)
        case here(Room)
    }

    struct Update: Hashable {
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

    private struct Position: Hashable, Sendable {
        var turn: Int
        var seen: Presence.Look?
    }

    /// Whether nothing is sent because earlier messages are still unsent.
    var isBlocked = false
    var gets: [Get] = []
    private(set) var acks: [(turn: Int, id: MessageID)] = []
    private var positions: [Subject: Position] = [:]
    /// Turns grow. An entry is stale if its subject was removed, or was added again with a later turn.
    private(set) var queue: [(turn: Int, subject: Subject)] = []
    private var turn = 0

    var isEmpty: Bool { !isBlocked && gets.isEmpty && acks.isEmpty && positions.isEmpty }

    func contains(_ subject: Subject) -> Bool { positions[subject] != nil }

    /// Adds a subject that must be sent, regardless of what the session saw before.
    func enqueue(_ subject: Subject) {
        if !append(subject, seen: nil) { positions[subject]?.seen = nil }
    }

    /// Adds several subjects in this order.
    func enqueue(_ subjects: [Subject]) {
        for subject in subjects { enqueue(subject) }
    }

    /// Notes that the session missed a change of this subject.
    ///
    /// - Parameter seen: the user's presence before the change.
    /// - Returns: whether this is the first missed change. Later ones replace it, since only the newest state is sent.
    func missed(_ subject: Subject, seen: Presence.Look?) -> Bool {
        append(subject, seen: seen)
    }

    /// Removes a subject that the session stopped following.
    func cancel(_ subject: Subject) {
        guard positions.removeValue(forKey: subject) != nil, queue.count > 2 * positions.count + 16 else { return }
        queue = queue.filter(isCurrent)
    }

    /// Removes and returns the next subjects to send.
    ///
    /// - Parameter size: returns about how many bytes a subject's state has; `nil` for one that is not known yet, which stays and
    ///   keeps its turn.
    /// - Returns: `isFull` if there may be more.
    func take(_ limit: Int, bytes most: Int, size: (Subject) -> Int?) -> (updates: [Update], isFull: Bool) {
        var taken: [Update] = []
        var unknown: [(turn: Int, subject: Subject)] = []
        var (looked, bytes) = (0, 0)
        while looked < queue.count, taken.count < limit, bytes < most {
            let entry = queue[looked]
            looked += 1
            guard isCurrent(entry) else { continue }
            if let size = size(entry.subject) {
                bytes += size
                taken.append(Update(subject: entry.subject, seen: positions.removeValue(forKey: entry.subject)?.seen))
            } else {
                unknown.append(entry)
            }
        }
        queue.replaceSubrange(..<looked, with: unknown)
        return (taken, taken.count == limit || bytes >= most)
    }

    /// Registers an acknowledgement that is sent after everything queued so far.
    func ackWhenFlushed(_ id: MessageID) {
        acks.append((turn, id))
    }

    /// Removes and returns the acknowledgements that are due.
    func takeDueAcks() -> [MessageID] {
        guard !acks.isEmpty else { return [] }
        let oldest = queue.first(where: isCurrent)?.turn ?? .max
        let due = acks.prefix { $0.turn < oldest }
        acks.removeFirst(due.count)
        return due.map(\.id)
    }

    private func append(_ subject: Subject, seen: Presence.Look?) -> Bool {
        guard positions[subject] == nil else { return false }
        turn += 1
        positions[subject] = Position(turn: turn, seen: seen)
        queue.append((turn, subject))
        return true
    }

    private func isCurrent(_ entry: (turn: Int, subject: Subject)) -> Bool {
        positions[entry.subject]?.turn == entry.turn
    }
}
