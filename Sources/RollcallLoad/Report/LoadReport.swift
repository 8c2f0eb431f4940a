// The result of a load, with all processes combined.

/// The report of a load, complete or interrupted.
package struct LoadReport: Encodable, Sendable {
    /// A distribution of durations, in milliseconds.
    package struct Figures: Encodable, Sendable, Hashable {
        package let count: Int
        package let p50, p90, p99, p99_9, max: Double

        /// - Returns: `nil` if there are none.
        init?(_ times: Timings) {
            guard let p50 = times.milliseconds(0.5), let p90 = times.milliseconds(0.9),
                let p99 = times.milliseconds(0.99), let p99_9 = times.milliseconds(0.999),
                let max = times.milliseconds(1)
            else { return nil }
            (count, self.p50, self.p90, self.p99, self.p99_9, self.max) = (times.count, p50, p90, p99, p99_9, max)
        }
    }

    /// Processor time in seconds, and the average number of processors in use.
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
    /// Whether the load was interrupted.
    package let interrupted: Bool
    /// The duration of the measurement, in seconds.
    package let seconds: Double
    package let counts: Counts
    /// The distributions by name. Those without durations are absent.
    package let times: [String: Figures]
    /// The time from the first lost connection until all devices were back, in seconds. Absent if none was lost, or if
    /// a device is not back.
    package let allBack: Double?
    /// The cost of this load's own processes.
    package let load: Cost
    /// The cost of all workers, and their number; absent if no admin port reports it.
    package let workers: Cost?
    package let workerCount: Int?

    enum CodingKeys: String, CodingKey {
        case scenario, devices, processes, interrupted, seconds, counts, times
        case allBack = "all_back"
        case load, workers
        case workerCount = "worker_count"
    }

    /// - Parameters:
    ///   - parts: the last reports of the processes that carry the load.
    ///   - witness: the last report of the witness.
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
    /// The counts of a load.
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
