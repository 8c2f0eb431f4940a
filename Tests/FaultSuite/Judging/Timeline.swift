// One value over time.

typealias Moment = ContinuousClock.Instant

/// A value's changes, in order of time.
struct Timeline<Value: Equatable & Sendable>: Sendable {
    private(set) var changes: [(at: Moment, value: Value)] = []

    mutating func became(_ value: Value, at moment: Moment) {
        if changes.last?.value != value { changes.append((moment, value)) }
    }

    /// Returns the value at a moment; `nil` before the first change.
    func value(at moment: Moment) -> Value? {
        changes.last { $0.at <= moment }?.value
    }

    /// Returns since when the value has been as expected without interruption until `end`; `nil` if it differs at the
    /// end.
    func settled(to expected: Value, by end: Moment) -> Moment? {
        var since: Moment?
        for change in changes where change.at <= end {
            since = change.value == expected ? since ?? change.at : nil
        }
        return since
    }

    /// Returns all values during the period, each with the time at which it was set.
    func values(from start: Moment, to end: Moment) -> [(at: Moment, value: Value)] {
        let standing = changes.last { $0.at <= start }
        return (standing.map { [$0] } ?? []) + changes.filter { $0.at > start && $0.at <= end }
    }
}
