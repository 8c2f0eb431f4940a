// One round, from an empty stage to the verdict.

/// What differs between rounds of the same row.
struct Circumstances: Hashable, Sendable {
    /// Whether the workers have run for a whole lease before the fault.
    var isWarm: Bool
    var authentication: Authentication
}

/// The outcome of a round.
struct Story: Sendable {
    var findings: [Finding]
    /// Set if a promise was broken.
    var evidence: String?

    /// Runs a fault on a new stage.
    static func of(_ job: Job, _ circumstances: Circumstances) async -> Story {
        var equipment = job.fault.equipment
        equipment.isWarm = circumstances.isWarm
        equipment.authentication = circumstances.authentication
        equipment.redis = job.redis
        do {
            let stage = try await Stage(job.settings, equipment)
            let findings = await stage.findings(of: job.fault)
            let isBroken = findings.contains { $0.broken != nil }
            let evidence = isBroken ? stage.evidence() : nil
            await stage.strike()
            return Story(findings: findings, evidence: evidence)
        } catch {
            return Story(findings: [Finding(.other, broken: "the stage could not be set: \(error)")])
        }
    }
}

extension Stage {
    fileprivate func findings(of fault: Fault) async -> [Finding] {
        do {
            return try await play(fault)
        } catch {
            return [Finding(.other, broken: "the fault could not be made: \(error)")]
        }
    }
}
