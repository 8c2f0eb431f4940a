// Whether load balancers should send devices to a worker. During a short outage of Redis they should: sessions continue
// and new ones are accepted. All workers are affected equally, so a load balancer that removed them would refuse every
// client.

internal import RollcallProtocol

/// The state of Redis for a worker.
enum RedisState: Sendable {
    /// Redis cannot be reached, or has not granted a new lease yet.
    case away
    /// There is a connection, and heartbeats fail: most often, Redis answers reads and refuses writes.
    case refusesWrites
    case holdsLease
}

/// The worker's readiness.
struct Readiness: Sendable {
    private(set) var incarnation: Incarnation?
    private(set) var redis = RedisState.away
    /// Whether the worker is stopping. A lease acquired after that does not change it.
    private(set) var isLeaving = false
    private var heard: ContinuousClock.Instant?
    private let patience: Duration

    /// How many leases may pass without an acknowledged heartbeat before the worker is not ready: as long as a restart
    /// or failover of Redis takes. After that, if only this worker cannot reach Redis, clients are better served
    /// elsewhere.
    static let leases = 6

    init(patience: Duration) {
        self.patience = patience
    }

    mutating func began(_ incarnation: Incarnation, at now: ContinuousClock.Instant) {
        self.incarnation = incarnation
        redis = .holdsLease
        heard = now
    }

    mutating func renewed(at now: ContinuousClock.Instant) {
        if redis == .refusesWrites { redis = .holdsLease }
        heard = now
    }

    mutating func heartbeatsFail() {
        redis = .refusesWrites
    }

    mutating func lost() {
        redis = .away
    }

    /// Whether Redis accepts writes and holds a lease of the worker.
    var holdsLease: Bool { redis == .holdsLease }

    mutating func left() {
        isLeaving = true
    }

    func isReady(at now: ContinuousClock.Instant) -> Bool {
        guard let heard, !isLeaving else { return false }
        return now - heard <= patience
    }
}

/// The readiness as reported to others.
struct Standing {
    var isReady = false
    var isDraining = false
}
