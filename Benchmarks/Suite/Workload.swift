// What is measured: each workload on the floor and on ours, in turns, so that whatever else the machine does strikes
// both.

/// One thing to measure.
protocol Workload: Sendable {
    /// What it is, in a few words.
    var name: String { get }
    /// What the figure is counted in; less is better.
    var unit: String { get }

    /// Makes a side ready.
    ///
    /// - Returns: `nil` if there is nothing to measure on it.
    func prepare(_ side: Stand.Side) async throws -> (any Measurable)?
}

/// A workload of which something is wanted: a row of the table.
protocol TargetedWorkload: Workload {
    var target: Target { get }
}

/// What is wanted of a workload.
enum Target: Encodable {
    /// At most so many times the floor.
    case ratio(Double)
    /// At most so much, whatever the floor.
    case value(Double)
}

/// A side that is ready to be measured, again and again.
protocol Measurable {
    func measure() async throws -> Sample
}

/// What one round gave.
struct Sample: Encodable {
    /// The figure that counts.
    var value: Double
    /// Others worth having, by name.
    var details: [String: Double] = [:]
}
