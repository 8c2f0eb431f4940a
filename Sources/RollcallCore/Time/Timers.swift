// One structure for all deadlines of a shard, instead of one timer a session.

internal import HeapModule

/// A queue of moments at which something may be due.
///
/// An entry is a reminder, not a promise: when it comes up, its subject says whether anything is due, and asks to be
/// reminded again if its deadline has moved on. So a deadline that is pushed back every second costs no entry a push.
struct Timers<Subject: Hashable & Sendable>: Sendable {
    private struct Entry: Comparable, Sendable {
        var at: Instant
        var subject: Subject

        static func < (left: Entry, right: Entry) -> Bool { left.at < right.at }
        static func == (left: Entry, right: Entry) -> Bool { left.at == right.at }
    }

    private var entries = Heap<Entry>()
    /// The earliest reminder of each subject; those after it in the heap are ignored when they come up.
    private var earliest: [Subject: Instant] = [:]

    /// Reminders held, those that nobody waits for any more among them.
    var count: Int { entries.count }
    /// When the next reminder comes up.
    var next: Instant? { entries.min?.at }

    mutating func remind(_ subject: Subject, at instant: Instant) {
        if let standing = earliest[subject], standing <= instant { return }
        earliest[subject] = instant
        entries.insert(Entry(at: instant, subject: subject))
        dropStale()
    }

    /// The subject is no more, and need not be reminded.
    mutating func forget(_ subject: Subject) {
        earliest[subject] = nil
        dropStale()
    }

    /// Takes out one subject whose reminder has come up.
    mutating func popDue(at now: Instant) -> Subject? {
        while let entry = entries.min, entry.at <= now {
            entries.removeMin()
            guard earliest[entry.subject] == entry.at else { continue }
            earliest[entry.subject] = nil
            return entry.subject
        }
        return nil
    }

    /// Entries that nobody waits for would stay until they come up, which may be in weeks: there are never many more of
    /// them than of others.
    private mutating func dropStale() {
        guard entries.count > 2 * earliest.count + 64 else { return }
        entries = Heap(entries.unordered.filter { earliest[$0.subject] == $0.at })
    }
}
