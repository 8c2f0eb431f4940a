// Changes that wait to be sent. One tick sends only a part of many changes, so that connections are flushed in between
// and none gets more than it can take.

/// Changed subjects, each once, sent in rounds. One that changes again waits for the next round, so each gets its turn.
struct ChangeQueue<Subject: Numbered> {
    private var changed: Set<Subject> = []
    /// The rest of the current round; the next one is at the end.
    private var round: [Subject] = []

    var isEmpty: Bool { changed.isEmpty && round.isEmpty }
    var count: Int { changed.count + round.count }

    mutating func insert(_ subject: Subject) {
        changed.insert(subject)
    }

    /// Removes and returns up to `limit` subjects to send next, by number.
    mutating func take(_ limit: Int) -> [Subject] {
        if round.isEmpty {
            round = changed.sorted { $0.number > $1.number }
            changed = []
        }
        defer { round.removeLast(min(limit, round.count)) }
        return round.suffix(limit).reversed()
    }
}
