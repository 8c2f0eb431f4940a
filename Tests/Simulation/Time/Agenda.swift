// Virtual time: what will happen, in order. Nothing in a simulation reads a clock, so a minute of it takes as long as
// its events take to compute, and a seed plays the same every time.

internal import HeapModule
internal import RollcallCore

/// The events to come. Two at one moment happen in the order in which they were put down.
final class Agenda {
    private struct Entry: Comparable {
        let at: Int64
        let order: Int
        let event: () -> Void

        static func < (left: Entry, right: Entry) -> Bool {
            left.at == right.at ? left.order < right.order : left.at < right.at
        }

        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    }

    private(set) var now = Instant(nanoseconds: 0)
    private var entries = Heap<Entry>()
    private var written = 0

    /// Puts an event down; one whose moment has passed happens next.
    func at(_ moment: Instant, _ event: @escaping () -> Void) {
        entries.insert(Entry(at: max(moment, now).nanoseconds, order: written, event: event))
        written += 1
    }

    func after(_ pause: Duration, _ event: @escaping () -> Void) {
        at(now + pause, event)
    }

    /// At this same moment, after everything that is put down for it already: as an event loop's next task.
    func soon(_ event: @escaping () -> Void) {
        at(now, event)
    }

    /// Lets time pass until `end`, or until `isOver`.
    func run(until end: Instant, unless isOver: () -> Bool) {
        while let next = entries.min, next.at <= end.nanoseconds, !isOver() {
            entries.removeMin()
            now = Instant(nanoseconds: next.at)
            next.event()
        }
        if !isOver() { now = max(now, end) }
    }

    /// Forgets what was to come, and with it whatever the events hold.
    func clear() {
        entries = Heap()
    }
}
