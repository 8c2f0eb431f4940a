// Changes that wait to be sent. One tick sends only a part of many changes, so that connections are flushed in between
// and none gets more than it can take.

/// Unique keys of changed values, sent in rounds. A value that changes again waits for the next round, so every value
/// gets its turn.
struct ChangeQueue<Value: Sendable>: Sendable {
    private var changed: Set<SlotKey<Value>> = []
    /// The rest of the current round; the next key is at the end.
    private var round: [SlotKey<Value>] = []

    var isEmpty: Bool { changed.isEmpty && round.isEmpty }
    var count: Int { changed.count + round.count }

    mutating func insert(_ key: SlotKey<Value>) {
        changed.insert(key)
    }

    /// Removes and returns up to `limit` keys to send next, in slot order.
    mutating func take(_ limit: Int) -> [SlotKey<Value>] {
        if round.isEmpty {
            round = changed.sorted { $0.index > $1.index }
            changed = []
        }
        defer { round.removeLast(min(limit, round.count)) }
        return round.suffix(limit).reversed()
    }
}
