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
    /// Whether there is a connection, for each that should be.
    var links: [Link: Bool] = [:]

    /// A connection of an event loop to a server.
    struct Link: Hashable, Sendable {
        enum Purpose { case commands, messages, heartbeats }
        var loop: ObjectIdentifier
        var purpose: Purpose
        var server: RedisLocation.Address
    }

    static func + (left: Self, right: Self) -> Self {
        LoopFigures(
            signals: left.signals + right.signals, published: left.published + right.published,
            delivered: left.delivered + right.delivered, roundTrips: left.roundTrips + right.roundTrips,
            links: left.links.merging(right.links) { $1 })
    }
}

extension ShardDriver {
    var figures: LoopFigures {
        LoopFigures(
            signals: shard.tally.typingSignals, published: shard.tally.typingPublished,
            delivered: shard.tally.sent.total, roundTrips: commands.tally.roundTrips,
            links: links(.commands, commands.links).merging(links(.messages, subscriber.links)) { $1 })
    }
}

extension ShardDriver {
    /// Why a connection is missing; with several, one of the reasons.
    var lastError: RedisError? { commands.lastError ?? subscriber.lastError }

    func links(_ purpose: LoopFigures.Link.Purpose, _ links: [RedisLocation.Address: Bool]) -> [LoopFigures.Link: Bool]
    {
        Dictionary(
            uniqueKeysWithValues: links.map {
                (LoopFigures.Link(loop: ObjectIdentifier(self), purpose: purpose, server: $0.key), $0.value)
            })
    }
}

/// Since when connections are missing to servers that others of the worker reach. A loop without one serves its devices half:
/// their joins are never answered, or nobody sees them.
struct MissingLinks {
    private var since: [LoopFigures.Link: ContinuousClock.Instant] = [:]

    /// Since when the first of them is missing.
    var first: ContinuousClock.Instant? { since.values.min() }

    mutating func observe(_ links: [LoopFigures.Link: Bool], at now: ContinuousClock.Instant) {
        let reached = Set(links.filter(\.value).map(\.key.server))
        let missing = links.filter { !$0.value && reached.contains($0.key.server) }.keys
        since = Dictionary(uniqueKeysWithValues: missing.map { ($0, since[$0] ?? now) })
    }
}

/// The sums when they were last collected.
struct WorkerPulse {
    private var loops = LoopFigures()
    private(set) var roundTrip: Duration?
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
