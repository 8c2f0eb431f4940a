// The counters in a worker's heartbeat: sums over its event loops, and Redis's recent latency. The loops are asked once
// per heartbeat.

internal import RollcallCore
internal import RollcallProtocol
internal import RollcallRedis

/// Counters of one or several event loops since they started.
struct LoopFigures: Sendable {
    var signals = 0
    var published = 0
    var delivered = 0
    /// From sending a command to its reply.
    var roundTrips = Histogram()

    static func + (left: Self, right: Self) -> Self {
        LoopFigures(
            signals: left.signals + right.signals, published: left.published + right.published,
            delivered: left.delivered + right.delivered, roundTrips: left.roundTrips + right.roundTrips)
    }
}

extension ShardDriver {
    var figures: LoopFigures {
        LoopFigures(
            signals: shard.tally.typingSignals, published: shard.tally.typingPublished,
            delivered: shard.tally.sent.total, roundTrips: commands.tally.roundTrips)
    }
}

/// The sums when they were last collected.
struct WorkerPulse {
    private var loops = LoopFigures()
    private var roundTrip: Duration?
    private var redis = RecentHistogram()

    mutating func gathered(_ loops: LoopFigures) {
        self.loops = loops
    }

    mutating func heartbeatAnswered(after time: Duration) {
        roundTrip = time
    }

    /// - Parameter heartbeats: Latencies of the heartbeat connection, which belongs to no shard.
    mutating func secondPassed(_ heartbeats: Histogram) {
        redis.note(loops.roundTrips + heartbeats)
    }

    /// The counters for the next heartbeat.
    var figures: WorkerFigures {
        var figures = WorkerFigures()
        figures.signals = Int64(loops.signals)
        figures.published = Int64(loops.published)
        figures.delivered = Int64(loops.delivered)
        figures.roundTripMicroseconds = roundTrip.map { Int64($0 / .microseconds(1)) }
        figures.cpuMilliseconds = ProcessorTime.used?.milliseconds
        return figures
    }

    /// Returns this quantile of the command latency over the last minute.
    func roundTripMicroseconds(_ part: Double) -> Int64? {
        redis.lately.quantile(part).map { $0 / 1000 }
    }
}

/// The part of a growing histogram from the last minute.
struct RecentHistogram {
    private static let seconds = 60
    /// The totals of each second, oldest first.
    private var totals: [Histogram] = []

    /// Call it once a second.
    mutating func note(_ total: Histogram) {
        totals.append(total)
        if totals.count > Self.seconds + 1 { totals.removeFirst() }
    }

    var lately: Histogram {
        guard let first = totals.first, let last = totals.last else { return Histogram() }
        return last - first
    }
}
