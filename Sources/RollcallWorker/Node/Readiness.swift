// Whether a worker should be sent devices. While Redis is away for a moment it should: sessions go on, new ones are
// welcomed, and every other worker of the fleet is no better off, so that a load balancer which believed otherwise would
// turn everybody away for a blip.

internal import RollcallModel

/// What Redis does for a worker.
enum RedisState: Sendable {
    /// Redis cannot be reached, or a new lease is not granted yet.
    case away
    /// Redis answers reads and refuses writes.
    case refusesWrites
    case holdsLease
}

/// What a worker knows of its own fitness to serve.
struct Readiness: Sendable {
    private(set) var incarnation: Incarnation?
    private(set) var redis = RedisState.away
    /// Whether the worker stops; a lease that begins meanwhile changes nothing of that.
    private(set) var isLeaving = false
    private var heard: ContinuousClock.Instant?
    private let patience: Duration

    /// How many leases may pass since Redis acknowledged a heartbeat, before the worker should be sent nobody: as long
    /// as a restart or a failover of Redis takes. By then whoever comes is better off elsewhere, if it is this worker
    /// alone that does not reach it.
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

    mutating func writesRefused() {
        redis = .refusesWrites
    }

    mutating func lost() {
        redis = .away
    }

    /// Whether Redis takes writes and holds a lease of the worker.
    var holdsLease: Bool { redis == .holdsLease }

    mutating func left() {
        isLeaving = true
    }

    func isReady(at now: ContinuousClock.Instant) -> Bool {
        guard let heard, !isLeaving else { return false }
        return now - heard <= patience
    }
}

/// What others are told of that.
struct Standing {
    var isReady = false
    var isDraining = false
}
