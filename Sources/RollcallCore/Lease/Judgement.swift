// Who counts as dead. The loop of the lease publishes one judgement with each heartbeat, and everything that reads records
// or removes devices asks it: presence, `get`, sweeps, explanations, erasing. A worker is dead once its lease has passed,
// but only for a worker that has a lease itself, and that has watched the leases for one lease since it started or since
// an outage. Outages that follow one another interrupt that time; they do not begin it again.

public import RollcallProtocol

/// The leases of all workers, as this worker's last heartbeat read them, and whether they prove anything.
public struct Judgement: Hashable, Sendable {
    /// The worker's own incarnation; `nil` while it holds no lease, and judges nobody.
    public internal(set) var own: Incarnation?
    /// Whether there was an outage, of Redis or of this worker, after which others may still have to renew their leases and
    /// to write their sessions again. Until then, a missing record and an expired lease prove nothing: nobody counts as
    /// dead, and what observers saw stays, except for newer records.
    package var isSettling: Bool { settlingSince != nil }
    /// Since when, over outages that followed one another; from the end of the first.
    package var settlingSince: Instant?
    /// Whether a heartbeat has succeeded since then.
    private var isFirstOver = false
    /// When all workers have had time for that, if there is no further outage; `nil` before this worker's first lease.
    private(set) var settles: Instant?
    /// The present stretch without an outage: when it began, and the last heartbeat that succeeded.
    package struct Stretch: Hashable, Sendable {
        package let began: Instant
        var last: Instant
    }

    package private(set) var stretch: Stretch?
    /// What counts of the stretches before it.
    private var counted = Duration.zero
    /// Whether some incarnation's lease had expired and the incarnation was not swept yet. Its devices still count in
    /// the presence that other workers publish.
    private var leavesUnswept = false

    private var living: Set<Incarnation> = []
    private var ends: [Incarnation: Timestamp] = [:]
    /// The earliest end of the leases that had not expired.
    private var firstEnd: Timestamp?
    private let lease: Duration

    init(lease: Duration) { self.lease = lease }

    // MARK: Questions

    /// Returns the time until every worker has had a chance to write again what Redis may have lost in an outage, which
    /// this worker may have missed before it started; `nil` if all is settled. Until then, a session may exist without a
    /// record, and nothing is swept.
    public func rest(at now: Instant) -> Duration? {
        guard let settles, isSettling || now < settles else { return nil }
        return max(.zero, settles - now)
    }

    /// Returns the worker's own incarnation and those that need not be looked up after a read. Every other one is looked
    /// up before it is judged: since the last heartbeat it may have started or renewed its lease, or may have been swept.
    ///
    /// - Parameter time: the Redis time; `nil` while heartbeats are late. All leases run out then, although no worker may
    ///   be dead: until the gap is known, those count that the last heartbeat found alive.
    func known(at time: Timestamp?) -> KnownWorkers {
        guard let time, let firstEnd, firstEnd < time else { return KnownWorkers(own: own, living: living) }
        return KnownWorkers(own: own, living: living.filter { ends[$0].map { $0 >= time } ?? false })
    }

    /// Returns the standings that count: none without a lease, and none until an outage has settled.
    func counting(_ standings: [Incarnation: WorkerStanding]) -> [Incarnation: WorkerStanding] {
        isSettling || own == nil ? [:] : standings
    }

    /// Whether the last heartbeat found that this incarnation's lease had expired.
    func isDead(_ incarnation: Incarnation) -> Bool {
        !isSettling && own != nil && ends[incarnation] != nil && !living.contains(incarnation)
    }

    /// Whether a published presence may count devices of dead workers: it does until they are swept.
    ///
    /// - Parameter isMasked: whether the user's record had such devices when it was last read.
    func mayCountDead(isMasked: Bool) -> Bool { !isSettling && (isMasked || leavesUnswept) }

    /// Whether a worker died since an earlier judgement.
    func hasLostWorker(since former: Judgement) -> Bool {
        !isSettling && !former.living.isSubset(of: living)
    }

    // MARK: Heartbeats

    /// What does not count of each stretch without an outage. In that time, every worker that is alive renews its lease and
    /// writes its sessions again.
    private static let writing = Duration.seconds(2)

    /// Takes what a heartbeat read.
    mutating func read(_ snapshot: LeaseSnapshot) {
        living = snapshot.living
        ends = snapshot.leases
        firstEnd = living.compactMap { ends[$0] }.min()
        leavesUnswept = living.count < snapshot.leases.count
    }

    /// Handles the worker's first lease: there may have been an outage before. Others get one lease to write their sessions,
    /// and at least the time until they have written all, even if they recovered slightly later.
    mutating func started(at now: Instant) {
        stretch = Stretch(began: now, last: now)
        settles = now + Self.writing + max(.zero, lease - Self.writing - counted)
    }

    mutating func outageOccurred(at now: Instant) {
        if isSettling, let stretch { counted += max(.zero, stretch.last - stretch.began - Self.writing) }
        if !isFirstOver { settlingSince = now }
        started(at: now)
    }

    /// Ends the outage with the first heartbeat that succeeds after all have had time. While heartbeats fail, others may be
    /// unable to write as well.
    mutating func heartbeatSucceeded(at now: Instant) {
        stretch?.last = now
        if let settles, now >= settles { (settlingSince, counted) = (nil, .zero) }
        isFirstOver = isSettling
    }
}
