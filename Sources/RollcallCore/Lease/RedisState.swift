// What a worker knows of Redis: whether it answers reads and takes writes, the time there, and who counts as dead.
// Heartbeats bring all of this: the loop of the lease publishes it to all event loops, and nothing else changes it.

public import RollcallProtocol

public struct RedisState: Hashable, Sendable {
    /// Who counts as dead.
    public package(set) var judgement: Judgement
    /// Whether there is a connection, as far as heartbeats show: the lease was not lost since, or they were refused.
    public private(set) var answersReads = false
    public private(set) var clock: RedisClock
    /// Sessions are written until then: the end of the lease, less what clocks may differ.
    package private(set) var until = Timestamp(milliseconds: 0)
    /// The worker's name in `welcome`: that of its latest incarnation, also while Redis is away.
    private(set) var workerName: ByteString
    /// The last reset of the events when the incarnation began.
    private(set) var eventReset: Int64 = 0
    private var lastHeartbeat: Instant?
    private let heartbeat: Duration

    /// - Parameters:
    ///   - worker: the worker's name before it holds a lease.
    ///   - clock: the estimate of Redis time before the first heartbeat.
    package init(worker: String, lease: Duration, heartbeat: Duration, clock: RedisClock = .unknown) {
        workerName = ByteString(worker)
        self.clock = clock
        self.heartbeat = heartbeat
        judgement = Judgement(lease: lease)
    }

    /// The incarnation under which sessions are written; `nil` while nothing can be written, since the worker holds no lease
    /// or its heartbeats fail.
    public var incarnation: Incarnation? { judgement.own }

    /// Whether the worker holds a lease and its heartbeats succeed.
    public var takesWrites: Bool { incarnation != nil }

    /// Whether there is a connection and heartbeats fail: most often, Redis answers reads and refuses writes.
    public var refusesWrites: Bool { answersReads && !takesWrites }

    /// Returns the current Redis time, estimated from the last heartbeat.
    public func time(at now: Instant) -> Timestamp { clock.time(at: now) }

    /// Returns who need not be looked up after a read that starts now; see ``Judgement/known(at:)``.
    public func known(at now: Instant) -> KnownWorkers {
        let isRecent = lastHeartbeat.map { now - $0 <= heartbeat * 2 } ?? false
        return judgement.known(at: isRecent ? time(at: now) : nil)
    }

    /// Returns the time from one heartbeat to the next. The last one of an outage comes when the others have had their time.
    func pause(at now: Instant) -> Duration {
        guard judgement.isSettling, let rest = judgement.rest(at: now), rest > .zero else { return heartbeat }
        return min(heartbeat, rest)
    }

    // MARK: Events

    /// Handles a new incarnation, before which Redis may have been away.
    ///
    /// - Returns: the last heartbeat before it, by Redis time.
    @discardableResult
    package mutating func began(
        _ incarnation: Incarnation, isFirst: Bool, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock,
        at now: Instant
    ) -> Timestamp? {
        // Uses the earlier of the old clock and the new one, which may have been set back together with the leases.
        let lastBeat = lastHeartbeat.map { min(time(at: $0), clock.time(at: $0)) }
        workerName = incarnation.name
        eventReset = snapshot.reset
        if isFirst { judgement.started(at: now) } else { judgement.outageOccurred(at: now) }
        heartbeatSucceeded(of: incarnation, snapshot, until: until, clock: clock, at: now)
        return lastBeat
    }

    /// Handles a heartbeat that renewed the lease.
    ///
    /// - Parameter afterGap: whether others may have been unable to renew theirs. That counts as the end of an outage.
    package mutating func renewed(
        _ incarnation: Incarnation, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock, afterGap: Bool,
        at now: Instant
    ) {
        if afterGap { judgement.outageOccurred(at: now) }
        heartbeatSucceeded(of: incarnation, snapshot, until: until, clock: clock, at: now)
    }

    private mutating func heartbeatSucceeded(
        of incarnation: Incarnation, _ snapshot: LeaseSnapshot, until: Timestamp, clock: RedisClock, at now: Instant
    ) {
        (self.until, self.clock, answersReads, lastHeartbeat) = (until, clock, true, now)
        judgement.own = incarnation
        judgement.read(snapshot)
        judgement.heartbeatSucceeded(at: now)
    }

    /// Handles that Redis is unreachable or the lease may be lost: nothing can be read or written.
    package mutating func lost() {
        judgement.own = nil
        answersReads = false
    }

    /// Handles that two heartbeats in a row have failed. Nothing is written until one succeeds; reads go on.
    ///
    /// - Parameter isOutage: whether other workers may have been unable to renew their leases as well.
    package mutating func heartbeatsFail(isOutage: Bool, at now: Instant) {
        if isOutage { judgement.outageOccurred(at: now) }
        judgement.own = nil
        answersReads = true
    }
}
