// What was measured, as it is kept from one run to the next.

public import Foundation
public import TestSupport

/// One round of a fault.
public struct Round: Codable, Sendable {
    /// The worst of each promise that was put to the test.
    public struct Outcome: Codable, Sendable {
        public var seconds: Double?
        public var limit: Double?
        public var broken: [String] = []
    }

    public var outcomes: [String: Outcome] = [:]
    /// What else was counted, at the most.
    public var figures: [String: Double] = [:]
    /// How long it took in all.
    public var seconds: Double
    /// By how much the suite itself was late, at the worst.
    public var delay: Double
    /// How devices showed who they are.
    public var authentication: String?

    public var isBroken: Bool { outcomes.values.contains { !$0.broken.isEmpty } }
    public var broken: [String] { outcomes.sorted { $0.key < $1.key }.flatMap(\.value.broken) }

    init(_ findings: [Finding], took: Duration, delay: Duration) {
        seconds = took.inSeconds
        self.delay = delay.inSeconds
        for finding in findings {
            var outcome = outcomes[finding.promise.rawValue] ?? Outcome()
            if let seconds = finding.seconds, seconds >= outcome.seconds ?? 0 {
                (outcome.seconds, outcome.limit) = (seconds, finding.limit)
            }
            outcome.limit = outcome.limit ?? finding.limit
            if let broken = finding.broken { outcome.broken.append(broken) }
            outcomes[finding.promise.rawValue] = outcome
            figures.merge(finding.figure) { max($0, $1) }
        }
    }
}

/// All rounds of a fault with the same settings.
public struct Row: Codable, Sendable {
    public var group: Fault.Group
    public var fault: String
    public var settings: String
    /// What Redis was, where that is not what is usual for the fault.
    public var redis: TestRedis.Kind?
    /// Which program was put to the test.
    public var build: String
    public var rounds: [Round] = []
    /// Rounds that were played again, since the machine had no time for them.
    public var repeated: [Round] = []

    init(_ job: Job, build: String) {
        (group, fault, settings) = (job.fault.group, job.fault.name, job.settings.name)
        redis = job.redis == job.fault.home ? nil : job.redis
        self.build = build
    }
}

/// The rows of a file.
public struct Results: Codable, Sendable {
    public var rows: [String: Row] = [:]

    public init() {}

    /// What is in a file; empty if there is none, or one that another version of the suite wrote.
    public init(file: URL) {
        guard let data = try? Data(contentsOf: file) else { return }
        self = (try? JSONDecoder().decode(Results.self, from: data)) ?? self
    }

    public func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try encoder.encode(self).write(to: file, options: .atomic)
    }
}
