// All that a worker decides as a whole, beside what its shards decide each for itself: it keeps the lease, tells the
// shards what each heartbeat brought, and sweeps the dead.

public import RollcallModel

/// What the shards of a worker are told of its lease.
public enum LeaseNews: Hashable, Sendable {
    /// A new incarnation stands.
    case began(Incarnation, isFirst: Bool, LeaseSnapshot, until: Timestamp, clock: RedisClock)
    /// The lease was renewed. After a gap Redis counts as having been away.
    case renewed(LeaseSnapshot, until: Timestamp, clock: RedisClock, afterGap: Bool)
    /// Redis answers and refuses writes. Told with each heartbeat that is refused so, until one succeeds.
    case writesRefused
    /// Redis cannot be reached, or the lease may be lost.
    case lost
}

/// The decisions of one worker about its lease and those of others.
public struct Steward: Sendable {
    /// Something for the worker to do, in the order given.
    public enum Action: Hashable, Sendable {
        /// Send a heartbeat; ``heartbeatAnswered(_:_:at:)`` or ``heartbeatFailed(_:)`` takes the answer.
        case beat(LeaseKeeper.Beat)
        /// Listen to the messages to this incarnation, and no longer to those to the one before.
        case hear(Incarnation)
        case tell(LeaseNews)
        /// ``claimed(_:sessions:)`` takes the answer, ``sweepFailed(_:)`` that there is none.
        case claim(Incarnation, by: Incarnation)
        /// ``swept(_:)`` takes the answer, ``sweepFailed(_:)`` that there is none or that it was too late.
        case sweep([SessionName], of: Incarnation, until: Timestamp)
        /// ``sweepFailed(_:)`` takes any answer: a later heartbeat begins again if the lease still stands there.
        case forget(Incarnation)
    }

    private var keeper: LeaseKeeper
    private var sweeper = Sweeper()
    private var clock: RedisClock?
    /// The worker's own incarnations, until what they left is swept. Where Redis forgot a lease with all else while
    /// sessions were being listed under it, nobody else would look for the list.
    private var own: [Incarnation] = []
    private var random: any RandomNumberGenerator & Sendable

    /// How many of its own incarnations it remembers.
    private static let mostOwn = 100

    /// - Parameter placing: gives a name that was drawn another random part, where it matters which.
    public init(
        worker: String, lease: Duration, heartbeat: Duration, random: some RandomNumberGenerator & Sendable,
        placing: @escaping @Sendable (Incarnation) -> Incarnation = { $0 }
    ) {
        var random: any RandomNumberGenerator & Sendable = random
        keeper = LeaseKeeper(worker: worker, lease: lease, heartbeat: heartbeat, using: &random, placing: placing)
        self.random = random
    }

    /// The incarnation that holds a lease, as far as the worker knows.
    public var incarnation: Incarnation? { keeper.incarnation }

    /// How long after a heartbeat the next one follows.
    public var pause: Duration { keeper.pause }

    /// It is time for a heartbeat, and there is a Redis to hear it.
    public mutating func beatDue(at now: Instant) -> [Action] {
        keeper.heartbeatDue(at: now).map { [.beat($0)] } ?? []
    }

    /// A heartbeat was answered.
    public mutating func heartbeatAnswered(
        _ beat: LeaseKeeper.Beat, _ snapshot: LeaseSnapshot, at now: Instant
    ) -> [Action] {
        switch keeper.heartbeatAnswered(beat, snapshot, at: now, using: &random) {
        case .began(let incarnation, let isFirst, let sent):
            let clock = RedisClock(time: snapshot.time, sent: sent)
            self.clock = clock
            own = (own + [incarnation]).suffix(Self.mostOwn)
            let news = LeaseNews.began(incarnation, isFirst: isFirst, snapshot, until: keeper.until, clock: clock)
            return [.hear(incarnation), .tell(news)]
        case .renewed(let sent, let afterGap):
            let clock =
                clock?.corrected(by: snapshot.time, sent: sent, at: now)
                ?? RedisClock(time: snapshot.time, sent: sent)
            self.clock = clock
            let news = LeaseNews.renewed(snapshot, until: keeper.until, clock: clock, afterGap: afterGap)
            return [.tell(news)] + sweep(snapshot, at: now)
        case .lost:
            return [.tell(.lost)] + beatDue(at: now)
        case .nothing:
            return []
        }
    }

    /// The heartbeat's reply will not come. The next one asks again.
    public mutating func heartbeatFailed(_ beat: LeaseKeeper.Beat) {
        keeper.heartbeatFailed(beat)
    }

    /// Redis answered a heartbeat with an error.
    ///
    /// - Parameter isOfWrites: whether the error says that Redis takes no writes at all.
    public mutating func heartbeatRefused(
        _ beat: LeaseKeeper.Beat, isOfWrites: Bool, at now: Instant
    ) -> [Action] {
        keeper.heartbeatRefused(beat, isOfWrites: isOfWrites, at: now) ? [.tell(.writesRefused)] : []
    }

    /// A connection was lost, or Redis said that it is another primary.
    public mutating func redisChanged() -> [Action] {
        keeper.redisChanged(using: &random)
        return [.tell(.lost)]
    }

    /// The worker leaves in good order.
    ///
    /// - Returns: the last heartbeat; `nil` if there is no lease to end.
    public mutating func ending(after: Duration) -> LeaseKeeper.Beat? {
        keeper.ending(after: after)
    }

    // MARK: Sweeping

    /// Reads met devices of dead incarnations, which a sweep takes on with a later heartbeat.
    public mutating func met(_ devices: [DeadDevice]) {
        sweeper.met(devices)
    }

    public mutating func claimed(_ dead: Incarnation, sessions: [SessionName]?) -> [Action] {
        actions(sweeper.claimed(dead, sessions: sessions))
    }

    public mutating func swept(_ dead: Incarnation) -> [Action] {
        actions(sweeper.swept(dead))
    }

    public mutating func sweepFailed(_ dead: Incarnation) {
        sweeper.ended(dead)
    }

    private mutating func sweep(_ snapshot: LeaseSnapshot, at now: Instant) -> [Action] {
        guard keeper.maySweep(at: now) else { return [] }
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
