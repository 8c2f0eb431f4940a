// Stops that Redis has not taken yet: those on their way, and those that failed and are sent again. Typing ends by
// itself at its expiry, so a failed stop is owed no longer than that, and only the latest of each device in a
// conversation matters.

internal import RollcallModel

/// The stops whose publication is still to come, and who waits for it.
///
/// Holds at most one entry for each device in each conversation, and drops expired stops as others come: never more than
/// what is on its way, twice what was typed within `typing.expiry`, and a few.
struct PendingStops: Sendable {
    /// Who is told once a stop is published.
    struct Waiting: Hashable, Sendable {
        let session: SessionKey
        let id: MessageID
    }

    enum Standing: Hashable, Sendable {
        case published
        case onItsWay
        /// It failed, and goes again once Redis takes writes.
        case owed
    }

    private struct Typist: Hashable, Sendable {
        let conversation: ConversationID
        let user: UserID
        let device: DeviceID

        init(_ stop: TypingSignal) {
            (conversation, user, device) = (stop.conversation, stop.user, stop.device)
        }

        init(_ name: SessionName, in conversation: ConversationID) {
            (self.conversation, user, device) = (conversation, name.user, name.device)
        }
    }

    private struct Entry: Sendable {
        var onTheirWay = 0
        var owed: Timestamp?
        var waiting: [Waiting] = []

        func isOver(at time: Timestamp) -> Bool { onTheirWay == 0 && (owed.map { $0 <= time } ?? true) }
    }

    private var entries: [Typist: Entry] = [:]
    /// Above this count those that are over are dropped.
    private var limit = Self.fewest
    private static let fewest = 64

    var count: Int { entries.count }

    func standing(of name: SessionName, in conversation: ConversationID, at time: Timestamp) -> Standing {
        guard let entry = entries[Typist(name, in: conversation)] else { return .published }
        if let owed = entry.owed, owed > time { return .owed }
        return entry.onTheirWay > 0 ? .onItsWay : .published
    }

    mutating func sent(_ stop: TypingSignal) {
        entries[Typist(stop), default: Entry()].onTheirWay += 1
    }

    /// Tells a session of the stops that are on their way, once they are published.
    mutating func tell(_ waiting: Waiting, oncePublished name: SessionName, in conversation: ConversationID) {
        entries[Typist(name, in: conversation)]?.waiting.append(waiting)
    }

    /// - Returns: who is told now.
    mutating func published(_ stop: TypingSignal) -> [Waiting] {
        let typist = Typist(stop)
        guard var entry = entries[typist] else { return [] }
        entry.onTheirWay -= 1
        // What ends a later typing ends an earlier one.
        if let owed = entry.owed, owed <= stop.expiry { entry.owed = nil }
        guard entry.onTheirWay == 0 else {
            entries[typist] = entry
            return []
        }
        let told = entry.waiting
        entry.waiting = []
        if entry.owed == nil { remove(typist) } else { entries[typist] = entry }
        return told
    }

    /// A stop did not reach Redis, and goes again unless its typing is over by itself.
    ///
    /// - Returns: who is told that it is not published.
    mutating func failed(_ stop: TypingSignal, at time: Timestamp) -> [Waiting] {
        let typist = Typist(stop)
        guard var entry = entries[typist] else { return [] }
        entry.onTheirWay -= 1
        if stop.expiry > time { entry.owed = entry.owed.map { max($0, stop.expiry) } ?? stop.expiry }
        let told = entry.waiting
        entry.waiting = []
        if entry.isOver(at: time) { remove(typist) } else { entries[typist] = entry }
        if entries.count > limit {
            entries = entries.filter { !$0.value.isOver(at: time) }
            limit = 2 * entries.count + Self.fewest
        }
        return told
    }

    /// Takes all stops that are owed and have not expired, the earliest expiry first. They are on their way from here on.
    mutating func takeOwed(at time: Timestamp) -> [TypingSignal] {
        let owed = entries.compactMap { typist, entry in
            entry.owed.flatMap { expiry in
                expiry > time
                    ? TypingSignal(
                        user: typist.user, device: typist.device, conversation: typist.conversation, expiry: expiry)
                    : nil
            }
        }
        entries = entries.filter { $0.value.onTheirWay > 0 }
        for typist in entries.keys { entries[typist]?.owed = nil }
        limit = Self.fewest
        return owed.sorted {
            ($0.expiry, $0.conversation, $0.user, $0.device) < ($1.expiry, $1.conversation, $1.user, $1.device)
        }
    }

    /// What is empty keeps no memory that a storm has taken.
    private mutating func remove(_ typist: Typist) {
        entries[typist] = nil
        if entries.isEmpty, entries.capacity > 2 * Self.fewest { entries = [:] }
    }
}
