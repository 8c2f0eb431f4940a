// One round, from an empty stage to the verdict.

/// How a round went.
struct Story: Sendable {
    var findings: [Finding]
    /// Kept where a promise was broken.
    var evidence: String?

    /// Goes through a fault on a stage of its own.
    static func of(_ job: Job, isWarm: Bool) async -> Story {
        var equipment = job.fault.equipment
        equipment.isWarm = isWarm
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
