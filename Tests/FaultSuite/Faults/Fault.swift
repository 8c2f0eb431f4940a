// Something that goes wrong, and what should hold all the same.

public import TestSupport

/// A fault: how it is made, and what it says should be seen while and after it happens.
public struct Fault: Sendable {
    /// Where it strikes.
    public enum Group: String, CaseIterable, Codable, Sendable {
        case worker, device, redis, network, mixed
    }

    public let group: Group
    /// What it is called in the table; unique.
    public let name: String
    /// Whether it wants the machine for itself.
    let isHeavy: Bool
    /// How often it is gone through at the most.
    let mostRounds: Int
    /// What Redis may be for it to go wrong.
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

    /// Whether it can be gone through there.
    public func stands(on kind: TestRedis.Kind) -> Bool { grounds.contains(kind) }

    /// On what it is gone through where nothing is chosen: one server, unless it wants more.
    public var home: TestRedis.Kind { TestRedis.Kind.allCases.first(where: stands(on:)) ?? .server }

    /// All of them, in the order of the table.
    public static let all =
        workerFaults + drainingFaults + deviceFaults + redisFaults + sentinelFaults + clusterFaults + networkFaults
        + mixedFaults + clockFaults + crowdFaults

    /// A handful that is over soon.
    public static let quick = [killed, restarted, goodbye, twice, killedSubscribers, killedCommands, flushed]
}
