// What came of a load, all processes as one.

/// The report, whole or as far as it got.
package struct LoadReport: Encodable, Sendable {
    /// Milliseconds that something took.
    package struct Figures: Encodable, Sendable, Hashable {
        package let count: Int
        package let p50, p90, p99, p99_9, max: Double

        /// - Returns: `nil` if it never happened.
        init?(_ times: Timings) {
            guard let p50 = times.milliseconds(0.5), let p90 = times.milliseconds(0.9),
                let p99 = times.milliseconds(0.99), let p99_9 = times.milliseconds(0.999),
                let max = times.milliseconds(1)
            else { return nil }
            (count, self.p50, self.p90, self.p99, self.p99_9, self.max) = (times.count, p50, p90, p99, p99_9, max)
        }
    }

    /// Processor time: seconds, and how many processors that is on average.
    package struct Cost: Encodable, Sendable, Hashable {
        package let seconds: Double
        package let cores: Double

        package init(seconds: Double, cores: Double) {
            (self.seconds, self.cores) = (seconds, cores)
        }
    }

    package let scenario: ScenarioKind
    package let devices: Int
    package let processes: Int
    /// Whether it was ended before its time.
    package let interrupted: Bool
    /// How long was measured.
    package let seconds: Double
    package let counts: Counts
    /// By what took the time; what never happened is absent.
    package let times: [String: Figures]
    /// From the first loss of a connection until all were back, in seconds; absent where nothing was lost, or somebody is
    /// not back.
    package let allBack: Double?
    /// What this load cost.
    package let load: Cost
    /// What all workers cost, and how many they are; absent where no admin port tells.
    package let workers: Cost?
    package let workerCount: Int?

    enum CodingKeys: String, CodingKey {
        case scenario, devices, processes, interrupted, seconds, counts, times
        case allBack = "all_back"
        case load, workers
        case workerCount = "worker_count"
    }

    /// - Parameters:
    ///   - parts: of the processes that carry the load, whole.
    ///   - witness: of the pairs beside it.
    package init(
        _ scenario: ScenarioKind, devices: Int, parts: [PartReport], witness: PartReport?, workers: WorkersMeter,
        interrupted: Bool
    ) {
        let tally = parts.map(\.tally).reduce(Tally(), +)
        (self.scenario, self.devices, processes, self.interrupted) = (scenario, devices, parts.count, interrupted)
        seconds = parts.map(\.seconds).max() ?? 0
        counts = Counts(tally)
        times = Self.times(tally, witness: witness?.tally ?? Tally())
        allBack = Self.allBack(tally, of: devices)
        let cost = (parts + [witness].compactMap { $0 }).reduce(0) { $0 + $1.processor }
        load = Cost(seconds: cost, cores: seconds > 0 ? cost / seconds : 0)
        self.workers = workers.cores.flatMap { cores in workers.seconds.map { Cost(seconds: $0, cores: cores) } }
        workerCount = self.workers.map { _ in workers.workers }
    }

    private static func times(_ tally: Tally, witness: Tally) -> [String: Figures] {
        var times: [String: Figures] = [:]
        for (name, key) in Tally.times { times[name] = Figures(tally[keyPath: key]) }
        times["witness"] = Figures(witness.typing)
        times["witness_late"] = Figures(witness.late)
        return times
    }

    private static func allBack(_ tally: Tally, of devices: Int) -> Double? {
        guard let first = tally.firstLoss, let last = tally.lastReturn, tally.present == devices else { return nil }
        return max(0, first.duration(to: last) / .seconds(1))
    }
}

extension LoadReport {
    /// How often things happened.
    package struct Counts: Encodable, Sendable {
        package let present, attempts, welcomes, failures, losses, expelled: Int
        package let goodbyes, errors: [String: Int]
        package let received, bytes, sent: Int
        package let changes, expected, seen: Int

        init(_ tally: Tally) {
            (present, attempts, welcomes) = (tally.present, tally.attempts, tally.welcomes)
            (failures, losses, expelled) = (tally.failures, tally.losses, tally.expelled)
            (goodbyes, errors) = (tally.goodbyes, tally.errors)
            (received, bytes, sent) = (tally.received, tally.bytes, tally.sent)
            (changes, expected, seen) = (tally.changes, tally.expected, tally.seen)
        }
    }
}
