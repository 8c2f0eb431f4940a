// Virtual time: the future events, in order. Nothing in a simulation reads a clock, so a simulated minute takes only as
// long as computing its events, and a seed always runs the same way.

internal import HeapModule
internal import RollcallCore

/// The future events. Events at the same time run in the order in which they were scheduled.
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

    /// Schedules an event; one in the past runs next.
    func at(_ moment: Instant, _ event: @escaping () -> Void) {
        entries.insert(Entry(at: max(moment, now).nanoseconds, order: written, event: event))
        written += 1
    }

    func after(_ pause: Duration, _ event: @escaping () -> Void) {
        at(now + pause, event)
    }

    /// Schedules an event for the current time, after all events already scheduled for it, like the next task of an
    /// event loop.
    func soon(_ event: @escaping () -> Void) {
        at(now, event)
    }

    /// Runs events until `end`, or until `isOver` returns true.
    func run(until end: Instant, unless isOver: () -> Bool) {
        while let next = entries.min, next.at <= end.nanoseconds, !isOver() {
            entries.removeMin()
            now = Instant(nanoseconds: next.at)
            next.event()
        }
        if !isOver() { now = max(now, end) }
    }

    /// Drops all future events, and the references that they hold.
    func clear() {
        entries = Heap()
    }
}
