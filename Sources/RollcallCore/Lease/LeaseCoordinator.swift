// The decisions that a worker makes as a whole, in addition to those of its shards: it keeps the lease, publishes to the
// shards what each heartbeat says of Redis, and sweeps dead incarnations.

public import RollcallProtocol

/// What happened to the worker's lease, and with it what is known of Redis, for the shards.
public enum LeaseNews: Hashable, Sendable {
    /// A new incarnation holds a lease.
    ///
    /// - Parameters:
    ///   - lastBeat: the last heartbeat before it, by Redis time; `nil` for the worker's first incarnation.
    case began(RedisState, LeaseSnapshot, lastBeat: Timestamp?)
    case renewed(RedisState, LeaseSnapshot)
    /// There is a connection, but two heartbeats in a row or more got no reply or an error, for example because Redis
    /// refuses writes. Sent for each further one, until one succeeds.
    case heartbeatsFail(RedisState)
    /// Redis is unreachable, or the lease may be lost.
    case lost(RedisState)

    /// What is known now.
    public var redis: RedisState {
        switch self {
        case .began(let redis, _, _), .renewed(let redis, _), .heartbeatsFail(let redis), .lost(let redis): redis
        }
    }
}

/// Decides about one worker's lease, and about those of other workers.
public struct LeaseCoordinator: Sendable {
    /// Something for the worker to do, in the order given.
    public enum Action: Hashable, Sendable {
        /// Send a heartbeat; report its result to ``heartbeatReplied(_:_:at:)``.
        case beat(LeaseKeeper.Beat)
        /// Subscribe to the channel of this incarnation, and unsubscribe from that of the previous one.
        case hear(Incarnation)
        case tell(LeaseNews)
        /// Claim the sweep of a dead incarnation; report the result to ``claimReplied(_:_:)``.
        case claim(Incarnation, by: Incarnation)
        /// Remove these devices; report the result to ``sweepReplied(_:isDone:)``.
        case sweep([SessionName], of: Incarnation, until: Timestamp)
        /// Delete a swept incarnation; report any result to ``deletionReplied(_:)``. If its lease still exists, a later
        /// heartbeat starts the sweep again.
        case forget(Incarnation)
    }

    private var keeper: LeaseKeeper
    private var sweeper = Sweeper()
    private var redis: RedisState
    private let heartbeat: Duration
    /// This worker's own incarnations, each until it is swept. If Redis lost a lease and other data while sessions were
    /// being listed under it, no other worker would look for that list.
    private var own: [Incarnation] = []
    private var random: any RandomNumberGenerator & Sendable

    /// The most own incarnations to remember.
    private static let mostOwn = 100

    /// - Parameter placing: changes the random part of a new incarnation's name where it matters. On a cluster, this
    ///   puts the worker's session list into the slot of `{workers}`.
    public init(
        worker: String, lease: Duration, heartbeat: Duration, random: some RandomNumberGenerator & Sendable,
        placing: @escaping @Sendable (Incarnation) -> Incarnation = { $0 }
    ) {
        var random: any RandomNumberGenerator & Sendable = random
        keeper = LeaseKeeper(worker: worker, lease: lease, heartbeat: heartbeat, using: &random, placing: placing)
        self.random = random
        self.heartbeat = heartbeat
        redis = RedisState(worker: worker, lease: lease, heartbeat: heartbeat)
    }

    /// The incarnation that holds a lease, as far as the worker knows.
    public var incarnation: Incarnation? { keeper.incarnation }

    /// Returns the time until the next heartbeat. It is shorter while heartbeats fail: after the first one that succeeds, it
    /// takes more than a second until all sessions are written. And it is when an outage settles.
    public func pause(at now: Instant) -> Duration {
        min(redis.pause(at: now), keeper.isFailing ? .milliseconds(500) : heartbeat)
    }

    /// Handles that a heartbeat is due and Redis is connected.
    public mutating func beatDue(at now: Instant) -> [Action] {
        keeper.heartbeatDue(at: now).map { [.beat($0)] } ?? []
    }

    /// Handles the result of a heartbeat, an error whether it is Redis's or that of the connection.
    public mutating func heartbeatReplied(
        _ beat: LeaseKeeper.Beat, _ reply: Result<LeaseSnapshot, some Error>, at now: Instant
    ) -> [Action] {
        switch reply {
        case .success(let snapshot): heartbeatAnswered(beat, snapshot, at: now)
        case .failure: keeper.heartbeatFailed(beat) ? heartbeatsFail(at: now) : []
        }
    }

    private mutating func heartbeatsFail(at now: Instant) -> [Action] {
        redis.heartbeatsFail(at: now)
        return [.tell(.heartbeatsFail(redis))]
    }

    private mutating func heartbeatAnswered(
        _ beat: LeaseKeeper.Beat, _ snapshot: LeaseSnapshot, at now: Instant
    ) -> [Action] {
        switch keeper.heartbeatAnswered(beat, snapshot, at: now, using: &random) {
        case .began(let incarnation, let isFirst, let sent):
            own = (own + [incarnation]).suffix(Self.mostOwn)
            let lastBeat = redis.began(
                incarnation, isFirst: isFirst, snapshot, until: keeper.until,
                clock: RedisClock(time: snapshot.time, sent: sent), at: now)
            return [.hear(incarnation), .tell(.began(redis, snapshot, lastBeat: lastBeat))]
        case .renewed(let incarnation, let sent, let afterGap):
            redis.renewed(
                incarnation, snapshot, until: keeper.until,
                clock: redis.clock.corrected(by: snapshot.time, sent: sent, at: now), afterGap: afterGap, at: now)
            return [.tell(.renewed(redis, snapshot))] + sweep(snapshot, at: now)
        case .lost:
            return lost() + beatDue(at: now)
        case .nothing:
            return []
        }
    }

    /// Handles a lost connection or a change of the primary.
    public mutating func redisChanged() -> [Action] {
        keeper.redisChanged(using: &random)
        return lost()
    }

    private mutating func lost() -> [Action] {
        redis.lost()
        return [.tell(.lost(redis))]
    }

    /// Ends the lease in an orderly shutdown.
    ///
    /// - Returns: the last heartbeat; `nil` if there is no lease to end.
    public mutating func ending(after: Duration) -> LeaseKeeper.Beat? {
        keeper.ending(after: after)
    }

    // MARK: Sweeping

    /// Queues devices of dead incarnations that a read found. A sweep removes them after a later heartbeat.
    public mutating func met(_ devices: [DeadDevice]) {
        sweeper.met(devices)
    }

    /// Handles the result of a claim: the sessions to remove, or `nil` if another worker has claimed the sweep.
    public mutating func claimReplied(
        _ dead: Incarnation, _ reply: Result<[SessionName]?, some Error>
    ) -> [Action] {
        guard case .success(let sessions) = reply else {
            sweeper.ended(dead)
            return []
        }
        return actions(sweeper.claimed(dead, sessions: sessions))
    }

    /// Handles the result of a sweep.
    ///
    /// - Parameter isDone: false if it failed or missed its deadline. A later heartbeat starts it again.
    public mutating func sweepReplied(_ dead: Incarnation, isDone: Bool) -> [Action] {
        guard isDone else {
            sweeper.ended(dead)
            return []
        }
        return actions(sweeper.swept(dead))
    }

    /// Handles the result of a deletion, whatever it is.
    public mutating func deletionReplied(_ dead: Incarnation) {
        sweeper.ended(dead)
    }

    private mutating func sweep(_ snapshot: LeaseSnapshot, at now: Instant) -> [Action] {
        guard redis.judgement.rest(at: now) == nil else { return [] }
        let forgotten = own.filter { $0 != incarnation && snapshot.leases[$0] == nil }
        return sweeper.begin(passed: snapshot.passed + forgotten).flatMap { actions($0) }
    }

    private mutating func actions(_ step: Sweeper.Step?) -> [Action] {
        switch step {
        case .claim(let dead):
            guard let incarnation = keeper.incarnation else {
                sweeper.ended(dead)
                return []
            }
            return [.claim(dead, by: incarnation)]
        case .sweep(let sessions, let dead): return [.sweep(sessions, of: dead, until: keeper.until)]
        case .forget(let dead):
            own.removeAll { $0 == dead }
            return [.forget(dead)]
        case nil: return []
        }
    }
}
