// All that was found, and what it comes to for whoever started it.

/// A Redis and a configuration, looked at.
package struct Examination: Codable, Sendable {
    /// Where Redis was looked for, without its password; absent where the configuration does not say.
    package var redis: String?
    /// The worst of all findings.
    package var verdict: Finding.Verdict
    package var findings: [Finding]

    init(redis: String?, findings: [Finding]) {
        self.redis = redis
        self.findings = findings
        verdict = findings.map(\.verdict).max() ?? .ok
    }

    /// What an exit code tells.
    package enum Outcome: Sendable {
        case fine
        case failures
        case wrongConfiguration
        case noRedis
    }

    /// What is to be mended first: a worker would not start for a wrong configuration, nor without Redis.
    package var outcome: Outcome {
        func fails(_ check: Check) -> Bool { findings.contains { $0.check == check && $0.verdict == .failure } }
        if fails(.configuration) { return .wrongConfiguration }
        if fails(.redis) { return .noRedis }
        return verdict == .failure ? .failures : .fine
    }
}
