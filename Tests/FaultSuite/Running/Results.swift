// The measurements, as stored between runs.

public import Foundation
public import TestSupport

/// One round of a fault.
public struct Round: Codable, Sendable {
    /// The worst result for each promise that was tested.
    public struct Outcome: Codable, Sendable {
        public var seconds: Double?
        public var limit: Double?
        public var broken: [String] = []
    }

    public var outcomes: [String: Outcome] = [:]
    /// Other counts, each the largest in the round.
    public var figures: [String: Double] = [:]
    /// The duration of the round.
    public var seconds: Double
    /// The longest delay of the suite's own process.
    public var delay: Double
    /// How devices authenticated.
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
    /// The kind of Redis deployment, if it is not the fault's default.
    public var redis: TestRedis.Kind?
    /// The build under test.
    public var build: String
    public var rounds: [Round] = []
    /// Rounds that were repeated because the machine was too busy.
    public var repeated: [Round] = []

    init(_ job: Job, build: String) {
        (group, fault, settings) = (job.fault.group, job.fault.name, job.settings.name)
        redis = job.redis == job.fault.home ? nil : job.redis
        self.build = build
    }
}

/// All rows of a file.
public struct Results: Codable, Sendable {
    public var rows: [String: Row] = [:]
    /// When a round of each row was played last, with any build.
    var played: [String: Date]? = [:]

    public init() {}

    /// Reads a file; empty if there is none, or if another version of the suite wrote it.
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
