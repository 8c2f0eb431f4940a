// Whether load balancers should send devices to a worker. During a short outage of Redis they should: sessions continue
// and new ones are accepted. All workers are affected equally, so a load balancer that removed them would refuse every
// client.

internal import RollcallCore
internal import RollcallProtocol

/// The worker's readiness.
struct Readiness: Sendable {
    /// The latest incarnation, also while Redis is away.
    private(set) var incarnation: Incarnation?
    /// What is known of Redis; `nil` before the first heartbeat.
    private(set) var redis: RedisState?
    /// Whether the worker is stopping. A lease acquired after that does not change it.
    private(set) var isLeaving = false
    private var renewed: ContinuousClock.Instant?
    /// Since when outages do not settle: the worker cannot tell who is gone.
    private var settlingSince: ContinuousClock.Instant?
    /// Since when a connection is missing to a server that others of this worker reach.
    var missingSince: ContinuousClock.Instant?
    /// What Redis lacks that a worker needs: a part does not work, at all workers alike.
    var lacking: String?
    var hasMoved = false
    private let patience: Duration

    /// How many leases may pass without an acknowledged heartbeat before the worker is not ready: as long as a restart
    /// or failover of Redis takes. After that, if only this worker cannot reach Redis, clients are better served
    /// elsewhere.
    static let leases = 6

    init(patience: Duration) {
        self.patience = patience
    }

    mutating func told(_ news: LeaseNews, at now: ContinuousClock.Instant) {
        redis = news.redis
        incarnation = news.redis.incarnation ?? incarnation
        switch news {
        case .began, .renewed:
            renewed = now
            settlingSince = news.redis.judgement.isSettling ? settlingSince ?? now : nil
        case .heartbeatsFail, .lost: break
        }
    }

    /// Whether Redis accepts writes and holds a lease of the worker.
    var holdsLease: Bool { redis?.takesWrites == true }

    mutating func left() {
        isLeaving = true
    }

    func isReady(at now: ContinuousClock.Instant) -> Bool { reason(at: now) == nil }

    /// Why the worker is not ready; `nil` if it is.
    func reason(at now: ContinuousClock.Instant) -> String? {
        func isTooLong(_ since: ContinuousClock.Instant?) -> Bool { since.map { now - $0 > patience } ?? false }
        if isLeaving { return "this worker is stopping" }
        guard let renewed else { return "this worker has no lease yet" }
        if isTooLong(renewed) {
            return redis?.refusesWrites == true
                ? "Redis has refused what this worker asks for too long" : "Redis was away for too long"
        }
        if isTooLong(missingSince) { return "a connection to Redis is missing, or its subscriptions are refused" }
        return isTooLong(settlingSince) ? "outages of Redis follow one another, or it answers too late" : nil
    }
}

/// The readiness as reported to others.
struct Standing {
    var isReady = false
    var isDraining = false
    var lacksRights = false
    var hasMoved = false
}
