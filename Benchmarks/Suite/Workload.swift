// What is measured: each workload on the floor and on Rollcall, in turns, so that other load on the machine affects
// both.

/// One thing to measure.
protocol Workload: Sendable {
    /// A short description.
    var name: String { get }
    /// The unit of the value. Less is better.
    var unit: String { get }

    /// Prepares a side.
    ///
    /// - Returns: `nil` if there is nothing to measure on this side.
    func prepare(_ side: Stand.Side) async throws -> (any Measurable)?
}

/// A workload with a target: a row of the table.
protocol TargetedWorkload: Workload {
    var target: Target { get }
}

/// The target of a workload.
enum Target: Encodable {
    /// At most this many times the floor.
    case ratio(Double)
    /// At most this value, independent of the floor.
    case value(Double)
}

/// A side that can be measured repeatedly.
protocol Measurable {
    func measure() async throws -> Sample
}

/// The result of one round.
struct Sample: Encodable {
    /// The main value.
    var value: Double
    /// Additional values, by name.
    var details: [String: Double] = [:]
}
