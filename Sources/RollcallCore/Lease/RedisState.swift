// What a shard knows of Redis: what it can do there, the time, the leases of all workers, and whether an outage has
// settled. Heartbeats bring all of this; nothing else changes it.

internal import RollcallProtocol

struct RedisState: Sendable {
    /// What a heartbeat that renewed the lease has shown.
    struct Renewal: Hashable, Sendable {
        /// Whether heartbeats failed until now, and nothing was written.
        var resumesWrites: Bool
        /// Whether this counts as the end of an outage.
        var endsOutage: Bool
        /// Whether a worker that was alive before is dead, and no outage explains it.
        var hasLostWorker: Bool
    }

    enum Settling: Hashable, Sendable {
        /// There is no outage to settle.
        case nothing
        case waiting(until: Instant)
        case settled
    }

    /// The lease, under which sessions are written until its end; `nil` while the worker holds none or heartbeats fail.
    private(set) var held: (incarnation: Incarnation, until: Timestamp)?
    /// Whether there is a connection, as far as heartbeats show: the lease was not lost since, or they were refused.
    private(set) var answersReads = false
    private(set) var clock: RedisClock
    /// The worker's name in `welcome`: that of its latest incarnation, also while Redis is away.
    private(set) var workerName: ByteString
    private(set) var recovery = Recovery.starting(until: nil)
    private(set) var weakerStates = WeakerStateSchedule()
    /// The number of heartbeats that renewed the lease.
    private(set) var heartbeatCount = 0
    /// The last reset of the events when the incarnation began.
    private(set) var eventReset: Int64 = 0
    private var lastHeartbeat: Instant?
    private var leases = Leases()
    private let lease: Duration
    private let heartbeat: Duration

    /// - Parameter worker: the worker's name before it holds a lease.
    init(worker: String, clock: RedisClock, _ settings: ShardSettings) {
        workerName = ByteString(worker)
        self.clock = clock
        (lease, heartbeat) = (settings.lease, settings.heartbeat)
    }

    /// The incarnation under which sessions are written; `nil` while nothing can be written.
    var incarnation: Incarnation? { held?.incarnation }

    /// Whether the worker holds a lease and its heartbeats succeed.
    var takesWrites: Bool { held != nil }

    /// The last outage, until it is settled.
    var outage: Outage? { recovery.outage }

    /// Whether a dead worker was not swept yet; see ``Leases/leavesUnswept``.
    var leavesUnswept: Bool { leases.leavesUnswept }

    /// Returns the current Redis time, estimated from the last heartbeat.
    func time(at now: Instant) -> Timestamp { clock.time(at: now) }

    /// Returns the worker's own incarnation and those that need not be looked up after a read; see
    /// ``Shard/known(at:)``.
    func known(at now: Instant) -> KnownWorkers {
        let living = heartbeatsSucceed(at: now) ? leases.living(at: time(at: now)) : leases.living
        return KnownWorkers(own: incarnation, living: living)
    }

    /// Whether the last heartbeat is recent enough to rule out a gap that may affect other workers too.
    private func heartbeatsSucceed(at now: Instant) -> Bool {
        lastHeartbeat.map { now - $0 <= heartbeat * 2 } ?? false
    }

    // MARK: Events

    /// Handles a new incarnation.
    ///
    /// - Returns: the last heartbeat before it, by Redis time.
    mutating func incarnationBegan(
        _ incarnation: Incarnation, isFirst: Bool, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock,
        at now: Instant
    ) -> Timestamp? {
        // Uses the earlier of the old clock and the new one, which may have been set back together with the leases.
        let lastBeat = lastHeartbeat.map { min(time(at: $0), clock.time(at: $0)) }
        let former = Incarnation(name: workerName)
        held = (incarnation, until)
        answersReads = true
        workerName = incarnation.name
        self.clock = clock
        eventReset = snapshot.reset
        lastHeartbeat = now
        _ = leases.read(snapshot)
        if isFirst {
            weakerStates.completed(under: incarnation)
            recovery.firstLeaseBegan(knowsFrom: now + RecoveryDelay.judging(lease: lease))
        } else {
            outageOccurred(since: lastBeat, at: now)
            weakerStates.incarnationBegan(after: former, snapshot, clock: clock, at: now)
        }
        return lastBeat
    }

    /// Handles a heartbeat that renewed the lease.
    mutating func leaseRenewed(
        of incarnation: Incarnation, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock, afterGap: Bool,
        at now: Instant
    ) -> Renewal {
        self.clock = clock
        let resumesWrites = held == nil
        held = (incarnation, until)
        heartbeatCount += 1
        lastHeartbeat = now
        let endsOutage = afterGap || resumesWrites
        if endsOutage { outageOccurred(at: now) }
        let hasLostWorker = leases.read(snapshot) && outage == nil
        return Renewal(resumesWrites: resumesWrites, endsOutage: endsOutage, hasLostWorker: hasLostWorker)
    }

    /// Handles that Redis is unreachable or the lease may be lost.
    mutating func lost() {
        held = nil
        answersReads = false
    }

    /// Handles that two heartbeats in a row have failed. That is the beginning of an outage: other workers may be unable to
    /// renew their leases as well.
    ///
    /// - Returns: whether it is news, and whether Redis was away until now.
    mutating func heartbeatsFail(at now: Instant) -> (isNew: Bool, wasAway: Bool) {
        let (isNew, wasAway) = (held != nil || !answersReads, !answersReads)
        held = nil
        answersReads = true
        if isNew { outageOccurred(since: lastHeartbeat.map { time(at: $0) }, at: now) }
        return (isNew, wasAway)
    }

    /// Ends the outage once all workers have had time to write their sessions again. While heartbeats fail, other
    /// workers may be unable to write as well, so this waits for the next one.
    mutating func settlingDue(at now: Instant) -> Settling {
        guard let outage else { return .nothing }
        guard now >= outage.settles, heartbeatsSucceed(at: now) else {
            return .waiting(until: max(outage.settles, now + heartbeat))
        }
        recovery.outageSettled()
        return .settled
    }

    /// Handles that all weaker states and removals were written.
    mutating func weakerStatesWritten() {
        if let incarnation { weakerStates.completed(under: incarnation) }
    }

    private mutating func outageOccurred(since lastBeat: Timestamp? = nil, at now: Instant) {
        recovery.outageOccurred(settles: now + RecoveryDelay.judging(lease: lease), lastBeat: lastBeat)
    }
}
