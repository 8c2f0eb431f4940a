// Typing stops that Redis has not confirmed yet: those in flight, and those that failed and are sent again. Typing
// expires without a stop, so a failed stop is dropped at that expiry. Only the latest stop of each device in a
// conversation matters.

internal import RollcallModel

/// The stops that are not published yet, and the messages that wait for them.
///
/// Holds at most one entry for each device in each conversation, and drops expired stops as others are added. The size
/// is at most the stops in flight, plus twice what was typed within `typing.expiry`, plus a small constant.
struct PendingStops: Sendable {
    /// A message to acknowledge once a stop is published.
    struct Waiting: Hashable, Sendable {
        let session: SessionKey
        let id: MessageID
    }

    enum Standing: Hashable, Sendable {
        case published
        case onItsWay
        /// The stop failed, and is sent again once Redis accepts writes.
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
    /// The number of entries above which finished ones are dropped.
    private var limit = Self.fewest
    private static let fewest = 64

    var count: Int { entries.count }

    func standing(of name: SessionName, in conversation: ConversationID, at time: Timestamp) -> Standing {
        guard let entry = entries[Typist(name, in: conversation)] else { return .published }
        if let owed = entry.owed, owed > time { return .owed }
        return entry.onTheirWay > 0 ? .onItsWay : .published
    }

    /// Whether a stop of the same device is in flight, or failed and is sent again.
    func contains(_ stop: TypingSignal) -> Bool { entries[Typist(stop)] != nil }

    mutating func sent(_ stop: TypingSignal) {
        entries[Typist(stop), default: Entry()].onTheirWay += 1
    }

    /// Registers a message to acknowledge once the stops in flight are published.
    mutating func tell(_ waiting: Waiting, oncePublished name: SessionName, in conversation: ConversationID) {
        entries[Typist(name, in: conversation)]?.waiting.append(waiting)
    }

    /// - Returns: the messages to acknowledge now.
    mutating func published(_ stop: TypingSignal) -> [Waiting] {
        let typist = Typist(stop)
        guard var entry = entries[typist] else { return [] }
        entry.onTheirWay -= 1
        // A stop that ends a later typing also ends an earlier one.
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

    /// Handles a stop that did not reach Redis. It is sent again unless its typing has expired.
    ///
    /// - Returns: the messages to answer with an error, since the stop is not published.
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

    /// Returns all failed stops that have not expired, ordered by expiry, and marks them as in flight.
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

    /// Removes an entry. Releases the memory of an empty table that grew large during a burst.
    private mutating func remove(_ typist: Typist) {
        entries[typist] = nil
        if entries.isEmpty, entries.capacity > 2 * Self.fewest { entries = [:] }
    }
}
