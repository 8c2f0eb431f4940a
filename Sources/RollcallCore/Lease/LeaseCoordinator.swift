// The decisions that a worker makes as a whole, in addition to those of its shards. It claims a lease at startup, renews it
// with heartbeats, and never once it may have expired; it publishes to the shards what each heartbeat says of Redis; and it
// sweeps dead incarnations.

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

/// Decides about one worker's lease, through all of its incarnations, and about those of other workers.
public struct LeaseCoordinator: Sendable {
    /// The request that a heartbeat makes.
    public enum Beat: Hashable, Sendable {
        /// Claims a lease under a new incarnation.
        case begin(Incarnation)
        /// Renews the current lease.
        case renew(Incarnation)
        /// The last heartbeat: the lease ends `after` from now.
        case end(Incarnation, after: Duration)
    }

    /// Something for the worker to do, in the order given.
    public enum Action: Hashable, Sendable {
        /// Send a heartbeat; report its result to ``heartbeatReplied(_:_:at:)``.
        case beat(Beat)
        /// Subscribe to the channel of this incarnation, and unsubscribe from that of the previous one.
        case hear(Incarnation)
        case tell(LeaseNews)
        /// Claim the sweep of a dead incarnation; report the result to ``claimReplied(_:_:)``.
        case claim(Incarnation, by: Incarnation)
        /// Remove what these items are about, each until ``LeaseCoordinator/until``; report the result to
        /// ``sweepReplied(_:isDone:)``.
        case sweep([ListItem], of: Incarnation)
        /// Delete a swept incarnation; report any result to ``deletionReplied(_:)``. If its lease still exists, a later
        /// heartbeat starts the sweep again.
        case forget(Incarnation)
    }

    private enum State: Hashable, Sendable {
        /// Claiming a lease under this name.
        case beginning(Incarnation)
        case held(Incarnation)
        case ended
    }

    /// The largest clock difference tolerated between hosts. A script may run this much after a write's deadline by another
    /// host's clock and still run before the lease ends.
    public static let clockTolerance = Duration.milliseconds(500)
    /// The number of consecutive failures after which an outage begins.
    private static let fewFailures = 2
    /// The most own incarnations to remember.
    private static let mostOwn = 100

    private let worker: String
    private let placing: @Sendable (Incarnation) -> Incarnation
    private let lease: Duration
    private let heartbeat: Duration
    private var state: State
    private var redis: RedisState
    private var sweeper = Sweeper()
    private var awaiting: (beat: Beat, sent: Instant)?
    /// Whether a heartbeat was due while one was in flight.
    private var isOverdue = false
    private var isFirst = true
    /// When the last renewal was answered, and how long that took.
    private var lastRenewed: (at: Instant, after: Duration)?
    /// The Redis time in the last reply, and when its request was sent.
    private var lastHeard: (time: Timestamp, sent: Instant)?
    /// Consecutive heartbeats that got no reply or an error.
    private var failures = 0
    /// This worker's own incarnations, each until it is swept. If Redis lost a lease and other data while sessions were
    /// being listed under it, no other worker would look for that list.
    private var own: [Incarnation] = []
    private var random: any RandomNumberGenerator & Sendable

    /// - Parameter placing: changes the random part of a new incarnation's name where it matters. On a cluster, this
    ///   puts the worker's session list into the slot of `{workers}`.
    public init(
        worker: String, lease: Duration, heartbeat: Duration, random: some RandomNumberGenerator & Sendable,
        placing: @escaping @Sendable (Incarnation) -> Incarnation = { $0 }
    ) {
        (self.worker, self.lease, self.heartbeat, self.placing) = (worker, lease, heartbeat, placing)
        var random: any RandomNumberGenerator & Sendable = random
        state = .beginning(placing(Incarnation(worker: worker, using: &random)))
        self.random = random
        redis = RedisState(worker: worker, lease: lease, heartbeat: heartbeat)
    }

    /// The incarnation that holds a lease, as far as the worker knows.
    public var incarnation: Incarnation? {
        if case .held(let incarnation) = state { incarnation } else { nil }
    }

    /// The write deadline, by Redis time.
    public var until: Timestamp { redis.until }

    /// Returns for how long an outage, or several in a row, have not settled; zero if all is settled.
    public func settling(at now: Instant) -> Duration { redis.judgement.settlingSince.map { now - $0 } ?? .zero }

    /// Returns the time until the next heartbeat. It is shorter while heartbeats fail: after the first one that succeeds, it
    /// takes more than a second until all sessions are written. And it is when an outage settles.
    public func pause(at now: Instant) -> Duration {
        min(redis.pause(at: now), failures > 0 ? .milliseconds(500) : heartbeat)
    }

    // MARK: Heartbeats

    /// Handles that a heartbeat is due and Redis is connected. None is sent while one is in flight, or after the lease was
    /// ended.
    public mutating func beatDue(at now: Instant) -> [Action] {
        isOverdue = awaiting != nil
        guard !isOverdue else { return [] }
        let beat: Beat
        switch state {
        case .beginning(let incarnation): beat = .begin(incarnation)
        case .held(let incarnation): beat = .renew(incarnation)
        case .ended: return []
        }
        awaiting = (beat, now)
        return [.beat(beat)]
    }

    /// Handles the result of a heartbeat, an error whether it is Redis's or that of the connection. If Redis changed since
    /// the request, the result is ignored.
    public mutating func heartbeatReplied(
        _ beat: Beat, _ reply: Result<LeaseSnapshot, some Error>, at now: Instant
    ) -> [Action] {
        guard let (awaited, sent) = awaiting, awaited == beat else { return [] }
        awaiting = nil
        guard case .success(let snapshot) = reply else { return heartbeatFailed(at: now) }
        failures = 0
        switch (state, beat) {
        case (.beginning(let incarnation), .begin(let asked)) where snapshot.held && asked == incarnation:
            return began(incarnation, snapshot, sent: sent, at: now)
        case (.held(let incarnation), .renew(let asked)) where snapshot.held && asked == incarnation:
            let isAfterGap = isAfterGap(time: snapshot.time, sent: sent, at: now)
            redis.renewed(
                incarnation, snapshot, until: until(snapshot),
                clock: redis.clock.corrected(by: snapshot.time, sent: sent, at: now), afterGap: isAfterGap, at: now)
            // The lease counts from when Redis renewed it: what was due meanwhile does not wait for another tick.
            let next = isOverdue ? beatDue(at: now) : []
            return [.tell(.renewed(redis, snapshot))] + sweep(snapshot, at: now) + next
        case (.beginning, _):
            // Does not retry at once: a Redis that refuses every claim would be asked in a tight loop.
            beginAnew()
            return []
        case (.held, _):
            return redisChanged() + beatDue(at: now)
        case (.ended, _):
            return []
        }
    }

    private mutating func heartbeatFailed(at now: Instant) -> [Action] {
        failures += 1
        guard failures >= Self.fewFailures else { return [] }
        redis.heartbeatsFail(isOutage: isGap(at: now), at: now)
        return [.tell(.heartbeatsFail(redis))]
    }

    private mutating func began(
        _ incarnation: Incarnation, _ snapshot: LeaseSnapshot, sent: Instant, at now: Instant
    ) -> [Action] {
        state = .held(incarnation)
        _ = isAfterGap(time: snapshot.time, sent: sent, at: now)
        own = (own + [incarnation]).suffix(Self.mostOwn)
        let lastBeat = redis.began(
            incarnation, isFirst: isFirst, snapshot, until: until(snapshot),
            clock: RedisClock(time: snapshot.time, sent: sent), at: now)
        isFirst = false
        return [.hear(incarnation), .tell(.began(redis, snapshot, lastBeat: lastBeat))]
    }

    /// The write deadline, by Redis time: later writes of this worker's sessions have no effect.
    private func until(_ snapshot: LeaseSnapshot) -> Timestamp {
        snapshot.time.advanced(by: lease - Self.clockTolerance)
    }

    /// - Returns: whether there was an outage since the last renewal was answered, or Redis's clock was set. If it is set
    ///   forward, leases expire before their workers can renew them. If it is set back, new records may have smaller versions
    ///   than those that they replace.
    private mutating func isAfterGap(time: Timestamp, sent: Instant, at now: Instant) -> Bool {
        defer { (lastRenewed, lastHeard) = ((now, now - sent), (time, sent)) }
        let isClockSet =
            lastHeard.map { time < $0.time || time.since($0.time) > now - $0.sent + Self.clockTolerance } ?? false
        return isClockSet || lastRenewed != nil && isGap(at: now)
    }

    /// Whether no renewal was answered for so long that another worker may have lost its lease: its last one took effect up to
    /// a heartbeat, or the time that answers take, before Redis was away. Counts from the reply and not from the request: a
    /// slow request may be the first one answered after an outage. Where the lease is short, two heartbeats are none.
    private func isGap(at now: Instant) -> Bool {
        guard let lastRenewed else { return true }
        let longest = lease - max(heartbeat, lastRenewed.after) - Self.clockTolerance
        return now - lastRenewed.at > max(heartbeat * 2, longest)
    }

    /// Handles a lost connection or a change of the primary. Redis may have lost writes, so everything is written again
    /// under a new incarnation.
    public mutating func redisChanged() -> [Action] {
        beginAnew()
        redis.lost()
        return [.tell(.lost(redis))]
    }

    private mutating func beginAnew() {
        guard state != .ended else { return }
        (awaiting, failures, lastRenewed, lastHeard) = (nil, 0, nil, nil)
        state = .beginning(placing(Incarnation(worker: worker, using: &random)))
    }

    /// Ends the lease in an orderly shutdown.
    ///
    /// - Returns: the last heartbeat; `nil` if there is no lease to end.
    public mutating func ending(after: Duration) -> Beat? {
        defer { state = .ended }
        return incarnation.map { .end($0, after: after) }
    }

    // MARK: Sweeping

    /// Queues what a read found of dead incarnations. A sweep removes them after a later heartbeat.
    public mutating func met(_ items: [HeldItem]) {
        sweeper.met(items)
    }

    /// Handles the result of a claim: what to remove, or `nil` if another worker has claimed the sweep.
    public mutating func claimReplied(
        _ dead: Incarnation, _ reply: Result<[ListItem]?, some Error>
    ) -> [Action] {
        guard case .success(let items) = reply else {
            sweeper.ended(dead)
            return []
        }
        return actions(sweeper.claimed(dead, items: items))
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
            guard let incarnation else {
                sweeper.ended(dead)
                return []
            }
            return [.claim(dead, by: incarnation)]
        case .sweep(let items, let dead): return [.sweep(items, of: dead)]
        case .forget(let dead):
            own.removeAll { $0 == dead }
            return [.forget(dead)]
        case nil: return []
        }
    }
}
