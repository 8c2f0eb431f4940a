// What a worker tells of its work: the sums over its loops, and how long Redis has taken lately. Each loop counts for
// itself; it is asked once a heartbeat, so that two heartbeats are as far apart as what they tell.

internal import RollcallCore
internal import RollcallModel
internal import RollcallRedis

/// What one loop, or several together, have done since they began.
struct LoopFigures: Sendable {
    var signals = 0
    var published = 0
    var delivered = 0
    /// From a command's sending to its reply.
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
            signals: shell.shard.tally.typingSignals, published: shell.shard.tally.typingPublished,
            delivered: tally.sent.total, roundTrips: commands.tally.roundTrips)
    }
}

/// The sums as they were last gathered.
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

    /// - Parameter heartbeats: what the connection for heartbeats took, which belongs to no shard.
    mutating func secondPassed(_ heartbeats: Histogram) {
        redis.note(loops.roundTrips + heartbeats)
    }

    /// What the next heartbeat says.
    var figures: WorkerFigures {
        var figures = WorkerFigures()
        figures.signals = Int64(loops.signals)
        figures.published = Int64(loops.published)
        figures.delivered = Int64(loops.delivered)
        figures.roundTripMicroseconds = roundTrip.map { Int64($0 / .microseconds(1)) }
        figures.cpuMilliseconds = ProcessFigures.cpu?.milliseconds
        return figures
    }

    /// What this part of the commands of the last minute did not exceed.
    func roundTripMicroseconds(_ part: Double) -> Int64? {
        redis.lately.quantile(part).map { $0 / 1000 }
    }
}

/// A distribution that only grows, as it has been for the last minute.
struct RecentHistogram {
    private static let seconds = 60
    /// The totals of each second, the oldest first.
    private var totals: [Histogram] = []

    /// To be called once a second.
    mutating func note(_ total: Histogram) {
        totals.append(total)
        if totals.count > Self.seconds + 1 { totals.removeFirst() }
    }

    var lately: Histogram {
        guard let first = totals.first, let last = totals.last else { return Histogram() }
        return last - first
    }
}
