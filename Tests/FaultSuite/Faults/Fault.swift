// A fault, and what must hold in spite of it.

public import TestSupport

/// A fault: how it is caused, and what must be observed during and after it.
public struct Fault: Sendable {
    /// Which part of the system it affects.
    public enum Group: String, CaseIterable, Codable, Sendable {
        case worker, device, redis, network, mixed
    }

    public let group: Group
    /// The name in the table of results; unique.
    public let name: String
    /// Whether its rounds run alone, because it needs the whole machine.
    let isHeavy: Bool
    /// The maximum number of rounds.
    let mostRounds: Int
    /// The kinds of Redis deployments on which it can be caused.
    let grounds: Set<TestRedis.Kind>
    let equipment: Stage.Equipment
    let body: @Sendable (Stage) async throws -> Void

    init(
        _ group: Group, _ name: String, isHeavy: Bool = false, mostRounds: Int = .max,
        on grounds: Set<TestRedis.Kind> = Set(TestRedis.Kind.allCases), equipment: Stage.Equipment = .init(),
        body: @escaping @Sendable (Stage) async throws -> Void
    ) {
        (self.group, self.name, self.isHeavy) = (group, name, isHeavy)
        self.mostRounds = mostRounds
        (self.grounds, self.equipment, self.body) = (grounds, equipment, body)
    }

    /// Returns whether the fault can be caused on this kind of deployment.
    public func stands(on kind: TestRedis.Kind) -> Bool { grounds.contains(kind) }

    /// The deployment on which the fault runs by default: one server, if that is possible.
    public var home: TestRedis.Kind { TestRedis.Kind.allCases.first(where: stands(on:)) ?? .server }

    /// All faults, in the order of the table.
    public static let all =
        workerFaults + drainingFaults + deviceFaults + redisFaults + sentinelFaults + clusterFaults + networkFaults
        + mixedFaults + eventFaults + clockFaults + crowdFaults
}
