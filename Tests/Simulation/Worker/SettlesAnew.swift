// A wrong rule for when an outage has settled, to check that the simulation finds it.

internal import RollcallCore

/// Each outage begins the time anew. Changes what the loop of the lease tells the shards.
struct SettlesAnew {
    private let lease: Duration
    /// When the last outage ended.
    private var began: Instant?
    private var settlingSince: Instant?

    /// - Returns: `nil` if the bug is not planted.
    init?(_ settings: SimulationSettings) {
        guard settings.planted == .settlesAnew else { return nil }
        lease = settings.lease
    }

    mutating func changed(_ news: LeaseNews, at now: Instant) -> LeaseNews {
        var redis = news.redis
        if redis.judgement.isSettling { began = redis.judgement.stretch?.began }
        let isSettling = began.map { now < $0 + max(lease, .seconds(2)) } ?? false
        settlingSince = isSettling ? settlingSince ?? now : nil
        redis.judgement.settlingSince = settlingSince
        return switch news {
        case .began(_, let snapshot, let lastBeat): .began(redis, snapshot, lastBeat: lastBeat)
        case .renewed(_, let snapshot): .renewed(redis, snapshot)
        case .heartbeatsFail: .heartbeatsFail(redis)
        case .lost: .lost(redis)
        }
    }
}
