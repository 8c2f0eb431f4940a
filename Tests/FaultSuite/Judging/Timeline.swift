// One thing as it was over time.

typealias Moment = ContinuousClock.Instant

/// A value's changes, in the order of time.
struct Timeline<Value: Equatable & Sendable>: Sendable {
    private(set) var changes: [(at: Moment, value: Value)] = []

    mutating func became(_ value: Value, at moment: Moment) {
        if changes.last?.value != value { changes.append((moment, value)) }
    }

    /// The value at a moment; `nil` before the first.
    func value(at moment: Moment) -> Value? {
        changes.last { $0.at <= moment }?.value
    }

    /// Since when the value has been as expected without a break until `end`; `nil` if it is not so at the end.
    func settled(to expected: Value, by end: Moment) -> Moment? {
        var since: Moment?
        for change in changes where change.at <= end {
            since = change.value == expected ? since ?? change.at : nil
        }
        return since
    }

    /// All values that stood at some moment of the span, each with when it came.
    func values(from start: Moment, to end: Moment) -> [(at: Moment, value: Value)] {
        let standing = changes.last { $0.at <= start }
        return (standing.map { [$0] } ?? []) + changes.filter { $0.at > start && $0.at <= end }
    }
}
