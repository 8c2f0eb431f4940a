// One queue for all deadlines of a shard, instead of one timer for each session.

internal import HeapModule

/// A queue of reminders: moments at which a subject may have something to do.
///
/// When a reminder comes up, its subject checks whether anything is due, and schedules another reminder if its deadline
/// has moved. A deadline that moves back every second therefore adds no queue entry for each move.
struct Timers<Subject: Hashable> {
    private struct Entry: Comparable {
        var at: Instant
        var subject: Subject

        static func < (left: Entry, right: Entry) -> Bool { left.at < right.at }
        static func == (left: Entry, right: Entry) -> Bool { left.at == right.at }
    }

    private var entries = Heap<Entry>()
    /// The earliest reminder of each subject. Later heap entries of the same subject are ignored when they come up.
    private var earliest: [Subject: Instant] = [:]

    /// The number of queued reminders, including stale ones.
    var count: Int { entries.count }
    /// When the next reminder comes up.
    var next: Instant? { entries.min?.at }

    mutating func remind(_ subject: Subject, at instant: Instant) {
        if let current = earliest[subject], current <= instant { return }
        earliest[subject] = instant
        entries.insert(Entry(at: instant, subject: subject))
        dropStale()
    }

    /// Cancels the reminders of a subject that no longer exists.
    mutating func forget(_ subject: Subject) {
        earliest[subject] = nil
        dropStale()
    }

    /// Removes and returns one subject whose reminder has come up.
    mutating func popDue(at now: Instant) -> Subject? {
        while let entry = entries.min, entry.at <= now {
            entries.removeMin()
            guard earliest[entry.subject] == entry.at else { continue }
            earliest[entry.subject] = nil
            return entry.subject
        }
        return nil
    }

    /// Removes stale entries when they outnumber the others. Otherwise they would stay until they come up, possibly for
    /// weeks.
    private mutating func dropStale() {
        guard entries.count > 2 * earliest.count + 64 else { return }
        entries = Heap(entries.unordered.filter { earliest[$0.subject] == $0.at })
    }
}
