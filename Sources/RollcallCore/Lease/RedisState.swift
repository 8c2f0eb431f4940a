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

// MARK: Outages

// Whether Redis may still lack what an outage, of Redis or of this worker, has lost. Until all workers have had time to
// write their sessions again, a missing record and an expired lease prove nothing.

/// What a worker knows about the last outage.
enum Recovery: Sendable {
    /// The worker has just started. Until this moment, it does not know whether there was an outage before; `nil`
    /// before its first lease.
    case starting(until: Instant?)
    /// Other workers may still have to write their sessions again. Observers keep what they saw before the outage,
    /// except for newer records.
    case settling(Outage)
    case settled

    var outage: Outage? {
        if case .settling(let outage) = self { outage } else { nil }
    }

    /// Returns the time until all is settled; `nil` if it is.
    func rest(at now: Instant) -> Duration? {
        switch self {
        case .starting(let until): until.flatMap { $0 > now ? $0 - now : nil }
        case .settling(let outage): max(.zero, outage.settles - now)
        case .settled: nil
        }
    }

    /// Handles the worker's first lease.
    mutating func firstLeaseBegan(knowsFrom: Instant) {
        switch self {
        case .starting, .settled:
            self = .starting(until: knowsFrom)
        case .settling(var outage):
            // Redis refused writes when the worker started.
            outage.startingUntil = knowsFrom
            self = .settling(outage)
        }
    }

    /// Handles an outage.
    ///
    /// - Parameter lastBeat: see ``Outage/lastBeat``.
    mutating func outageOccurred(settles: Instant, lastBeat: Timestamp?) {
        switch self {
        case .starting(let until):
            self = .settling(Outage(settles: settles, lastBeat: lastBeat, startingUntil: until))
        case .settling(let former):
            // The last heartbeat before the earlier outage counts: which incarnations survived it is still unknown.
            let first = [former.lastBeat, lastBeat].compactMap { $0 }.min()
            self = .settling(Outage(settles: settles, lastBeat: first, startingUntil: former.startingUntil))
        case .settled:
            self = .settling(Outage(settles: settles, lastBeat: lastBeat))
        }
    }

    /// Handles that all workers have had time to write their sessions again.
    mutating func outageSettled() {
        guard case .settling(let outage) = self else { return }
        self = outage.startingUntil.map { .starting(until: $0) } ?? .settled
    }
}

/// An outage that is not settled.
struct Outage: Hashable, Sendable {
    /// When all workers have had time to restore what Redis may have lost.
    var settles: Instant
    /// The last heartbeat before the outage, by Redis time; `nil` if this worker kept its lease.
    var lastBeat: Timestamp?
    /// The moment of ``Recovery/starting(until:)``, to which the worker returns.
    var startingUntil: Instant?

    /// Whether a lease expired before the outage. A lease that expired during the outage proves nothing, since every
    /// worker's may have.
    func hadPassed(_ standing: WorkerStanding) -> Bool {
        guard let end = standing.leaseEnd else { return false }
        return lastBeat.map { end < $0 } ?? true
    }
}

// How long a worker waits after an outage, of Redis or its own, before it writes weaker states and before it treats
// other workers as gone.

/// Delays after an outage.
package enum RecoveryDelay {
    /// How long weaker states (idle, background, in grace, removed) are held back so that active devices are written
    /// first.
    package static let weakerStates = Duration.seconds(1)

    /// The extra delay of a removal: the device may have reconnected to another worker, which writes it slightly later.
    package static let removals = Duration.milliseconds(250)

    /// How long a worker waits before it judges incarnations that have shown no sign of life: one lease, but long
    /// enough for other workers to write their weaker states even if they recovered slightly later.
    static func judging(lease: Duration) -> Duration { max(lease, weakerStates * 2) }
}

// MARK: The leases of all workers

// Which workers are alive, as of the last heartbeat. Readers use this to ignore the devices of dead incarnations.

/// The leases of all workers, as this worker's last heartbeat read them.
struct Leases: Hashable, Sendable {
    private(set) var living: Set<Incarnation> = []
    private var ends: [Incarnation: Timestamp] = [:]
    /// The earliest end of the leases that had not expired.
    private var firstEnd: Timestamp?
    /// Whether some incarnation's lease had expired and the incarnation was not swept yet. Its devices still count in
    /// the presence that other workers publish.
    private(set) var leavesUnswept = false

    /// Stores what a heartbeat read.
    ///
    /// - Returns: whether an incarnation that was alive before is now dead.
    mutating func read(_ snapshot: LeaseSnapshot) -> Bool {
        let before = living
        living = snapshot.living
        ends = snapshot.leases
        firstEnd = living.compactMap { ends[$0] }.min()
        leavesUnswept = living.count < snapshot.leases.count
        return !before.isSubset(of: living)
    }

    /// Returns the incarnations whose lease, as last read, has not expired at `time`.
    ///
    /// Callers look up every other incarnation before they judge it. Since the last heartbeat it may have started or
    /// renewed its lease, or may have been swept and removed.
    func living(at time: Timestamp) -> Set<Incarnation> {
        guard let firstEnd, firstEnd < time else { return living }
        return living.filter { incarnation in ends[incarnation].map { $0 >= time } ?? false }
    }
}
