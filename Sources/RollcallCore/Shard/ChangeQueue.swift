// What changed and is still to be told. However much changes at once, one tick tells a part of it, so that connections
// are flushed in between and none is handed more than it can take.

/// Names of what changed, each once, told in rounds: what changes again waits for the next, so that everything's turn
/// comes.
struct ChangeQueue<Value: Sendable>: Sendable {
    private var changed: Set<SlotKey<Value>> = []
    /// The rest of this round, the next at the end.
    private var round: [SlotKey<Value>] = []

    var isEmpty: Bool { changed.isEmpty && round.isEmpty }
    var count: Int { changed.count + round.count }

    mutating func insert(_ key: SlotKey<Value>) {
        changed.insert(key)
    }

    /// Takes what is told next, at most `limit`, in the order of the slots.
    mutating func take(_ limit: Int) -> [SlotKey<Value>] {
        if round.isEmpty {
            round = changed.sorted { $0.index > $1.index }
            changed = []
        }
        defer { round.removeLast(min(limit, round.count)) }
        return round.suffix(limit).reversed()
    }
}
