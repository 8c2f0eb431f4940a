// All findings, and the resulting outcome.

/// The findings about a configuration and its Redis.
package struct Examination: Codable, Sendable {
    /// The address of Redis without its password; absent if the configuration has no valid one.
    package var redis: String?
    /// The worst verdict of all findings.
    package var verdict: Finding.Verdict
    package var findings: [Finding]

    init(redis: String?, findings: [Finding]) {
        self.redis = redis
        self.findings = findings
        verdict = findings.map(\.verdict).max() ?? .ok
    }

    /// The result, as the exit code reports it.
    package enum Outcome: Sendable {
        case fine
        case failures
        case wrongConfiguration
        case noRedis
    }

    /// The problem to fix first: a worker does not start with a wrong configuration, nor without Redis.
    package var outcome: Outcome {
        func fails(_ check: Check) -> Bool { findings.contains { $0.check == check && $0.verdict == .failure } }
        if fails(.configuration) { return .wrongConfiguration }
        if fails(.redis) { return .noRedis }
        return verdict == .failure ? .failures : .fine
    }
}
