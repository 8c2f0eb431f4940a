// Something that goes wrong, and what should hold all the same.

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
    let equipment: Stage.Equipment
    let body: @Sendable (Stage) async throws -> Void

    init(
        _ group: Group, _ name: String, isHeavy: Bool = false, mostRounds: Int = .max,
        equipment: Stage.Equipment = .init(),
        body: @escaping @Sendable (Stage) async throws -> Void
    ) {
        (self.group, self.name, self.isHeavy) = (group, name, isHeavy)
        self.mostRounds = mostRounds
        (self.equipment, self.body) = (equipment, body)
    }

    /// All of them, in the order of the table.
    public static let all =
        workerFaults + drainingFaults + deviceFaults + redisFaults + sentinelFaults + clusterFaults + networkFaults
        + mixedFaults + crowdFaults

    /// A handful that is over soon.
    public static let quick = [killed, restarted, goodbye, twice, killedSubscribers, killedCommands, flushed]
}
