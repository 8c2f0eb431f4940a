// What was true when: a message from a worker is late by as much as the machine is slow, but never tells what was
// true at no moment.

/// The values of one thing over time.
struct Timeline<Value: Equatable> {
    typealias Instant = ContinuousClock.Instant

    private var entries: [(since: Instant, value: Value)]

    init(_ value: Value, at now: Instant) {
        entries = [(now, value)]
    }

    var last: Value { entries[entries.count - 1].value }

    mutating func became(_ value: Value, at now: Instant) {
        if value != last { entries.append((now, value)) }
    }

    /// All values that the thing had at some moment from `start` to `end`.
    func values(from start: Instant, to end: Instant) -> [Value] {
        let first = entries.lastIndex { $0.since <= start } ?? 0
        return entries[first...].prefix { $0.since <= end || $0.since == entries[first].since }.map(\.value)
    }
}
