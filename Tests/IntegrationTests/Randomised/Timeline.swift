// The expected values over time. A message from a worker may be late on a slow machine, but it must never contain a
// value that was never correct.

/// A value over time.
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

    /// Returns all values during a period.
    func values(from start: Instant, to end: Instant) -> [Value] {
        let first = entries.lastIndex { $0.since <= start } ?? 0
        return entries[first...].prefix { $0.since <= end || $0.since == entries[first].since }.map(\.value)
    }
}
