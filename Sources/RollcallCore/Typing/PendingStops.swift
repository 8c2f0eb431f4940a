// Typing stops that Redis has not confirmed yet: those in flight, and those that failed and are sent again. Typing
// expires without a stop, so a failed stop is dropped at that expiry. Only the latest stop of each device in a
// conversation matters.

internal import RollcallProtocol

/// The stops that are not published yet, and the messages that wait for them.
///
/// Holds at most one entry for each device in each conversation, and drops expired stops as others are added. The size
/// is at most the stops in flight, plus twice what was typed within `typing.expiry`, plus a small constant.
struct PendingStops {
    /// A message to acknowledge once a stop is published.
    struct Waiting: Hashable {
        let session: Session
        let id: MessageID
    }

    enum Delivery: Hashable, Sendable {
        case published
        case inFlight
        /// The stop failed, and is sent again once Redis accepts writes.
        case failed
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

    private struct Entry {
        var inFlight = 0
        /// The expiry of a stop that failed, and is sent again.
        var failed: Timestamp?
        var waiting: [Waiting] = []

        func isOver(at time: Timestamp) -> Bool { inFlight == 0 && (failed.map { $0 <= time } ?? true) }
    }

    private var entries: [Typist: Entry] = [:]
    /// The number of entries above which finished ones are dropped.
    private var limit = Self.fewest
    private static let fewest = 64

    var count: Int { entries.count }

    func delivery(of name: SessionName, in conversation: ConversationID, at time: Timestamp) -> Delivery {
        guard let entry = entries[Typist(name, in: conversation)] else { return .published }
        if let failed = entry.failed, failed > time { return .failed }
        return entry.inFlight > 0 ? .inFlight : .published
    }

    /// Whether a stop of the same device is in flight, or failed and is sent again.
    func contains(_ stop: TypingSignal) -> Bool { entries[Typist(stop)] != nil }

    mutating func sent(_ stop: TypingSignal) {
        entries[Typist(stop), default: Entry()].inFlight += 1
    }

    /// Registers a message to acknowledge once the stops in flight are published.
    mutating func ackWhenPublished(_ waiting: Waiting, _ name: SessionName, in conversation: ConversationID) {
        guard let index = entries.index(forKey: Typist(name, in: conversation)) else {
            return assertionFailure("no stop is in flight, so nothing would be acknowledged")
        }
        entries.values[index].waiting.append(waiting)
    }

    /// - Returns: the messages to acknowledge now.
    mutating func published(_ stop: TypingSignal) -> [Waiting] {
        let typist = Typist(stop)
        guard var entry = entries[typist] else { return [] }
        entry.inFlight -= 1
        // A stop that ends a later typing also ends an earlier one.
        if let failed = entry.failed, failed <= stop.expiry { entry.failed = nil }
        guard entry.inFlight == 0 else {
            entries[typist] = entry
            return []
        }
        let waiting = entry.waiting
        entry.waiting = []
        if entry.failed == nil { remove(typist) } else { entries[typist] = entry }
        return waiting
    }

    /// Handles a stop that did not reach Redis. It is sent again unless its typing has expired.
    ///
    /// - Returns: the messages to answer with an error, since the stop is not published.
    mutating func failed(_ stop: TypingSignal, at time: Timestamp) -> [Waiting] {
        let typist = Typist(stop)
        guard var entry = entries[typist] else { return [] }
        entry.inFlight -= 1
        if stop.expiry > time { entry.failed = entry.failed.map { max($0, stop.expiry) } ?? stop.expiry }
        let waiting = entry.waiting
        entry.waiting = []
        if entry.isOver(at: time) { remove(typist) } else { entries[typist] = entry }
        if entries.count > limit {
            entries = entries.filter { !$0.value.isOver(at: time) }
            limit = 2 * entries.count + Self.fewest
        }
        return waiting
    }

    /// Returns all failed stops that have not expired, ordered by expiry, and marks them as in flight.
    mutating func takeFailed(at time: Timestamp) -> [TypingSignal] {
        let failed = entries.compactMap { typist, entry in
            entry.failed.flatMap { expiry in
                expiry > time
                    ? TypingSignal(
                        user: typist.user, device: typist.device, conversation: typist.conversation, expiry: expiry)
                    : nil
            }
        }
        entries = entries.filter { $0.value.inFlight > 0 }
        for typist in entries.keys { entries[typist]?.failed = nil }
        limit = Self.fewest
        return failed.sorted {
            ($0.expiry, $0.conversation, $0.user, $0.device) < ($1.expiry, $1.conversation, $1.user, $1.device)
        }
    }

    /// Removes an entry. Releases the memory of an empty table that grew large during a burst.
    private mutating func remove(_ typist: Typist) {
        entries[typist] = nil
        if entries.isEmpty, entries.capacity > 2 * Self.fewest { entries = [:] }
    }
}
