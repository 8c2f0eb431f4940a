// A worker's own lease: claimed at startup, renewed by heartbeats, and never renewed once it may have expired.

public import RollcallProtocol

/// Manages one worker's lease through all of its incarnations.
public struct LeaseKeeper: Sendable {
    /// The request that a heartbeat makes.
    public enum Beat: Hashable, Sendable {
        /// Claims a lease under a new incarnation.
        case begin(Incarnation)
        /// Renews the current lease.
        case renew(Incarnation)
        /// The last heartbeat: the lease ends `after` from now.
        case end(Incarnation, after: Duration)
    }

    /// What the reply to a heartbeat means.
    public enum Verdict: Hashable, Sendable {
        /// A new incarnation holds a lease, and all sessions are written again under it. `isFirst` is true for the
        /// first incarnation of the process.
        case began(Incarnation, isFirst: Bool, sent: Instant)
        /// The lease was renewed. After a gap, other workers may have been unable to renew theirs as well.
        case renewed(Incarnation, sent: Instant, afterGap: Bool)
        /// The lease was lost. The worker claims a new one at once.
        case lost
        /// The claim was refused, or the reply belongs to a heartbeat of an earlier incarnation.
        case nothing
    }

    private enum State: Hashable, Sendable {
        /// Claiming a lease under this name.
        case beginning(Incarnation)
        case held(Incarnation)
        case ended
    }

    private let worker: String
    private let placing: @Sendable (Incarnation) -> Incarnation
    private let lease: Duration
    private let heartbeat: Duration
    private var state: State
    private var awaiting: (beat: Beat, sent: Instant)?
    private var isFirst = true
    /// When the last renewal was answered.
    private var lastRenewed: Instant?
    /// The Redis time in the last reply, and when its request was sent.
    private var lastHeard: (time: Timestamp, sent: Instant)?
    /// Consecutive heartbeats that got no reply or an error.
    private var failures = 0

    /// The number of consecutive failures after which an outage begins.
    static let fewFailures = 2

    /// The write deadline, by Redis time: later writes of this worker's sessions have no effect.
    public private(set) var until = Timestamp(milliseconds: 0)

    /// The largest clock difference tolerated between hosts. A script may run this much after `until` by another host's
    /// clock and still run before the lease ends.
    public static let clockTolerance = Duration.milliseconds(500)

    /// - Parameter placing: changes the random part of a new incarnation's name where it matters. On a cluster, this
    ///   puts the worker's session list into the slot of `{workers}`.
    public init(
        worker: String, lease: Duration, heartbeat: Duration, using random: inout some RandomNumberGenerator,
        placing: @escaping @Sendable (Incarnation) -> Incarnation = { $0 }
    ) {
        self.worker = worker
        self.placing = placing
        self.lease = lease
        self.heartbeat = heartbeat
        state = .beginning(placing(Incarnation(worker: worker, using: &random)))
    }

    /// The incarnation that holds a lease, as far as the worker knows.
    public var incarnation: Incarnation? {
        if case .held(let incarnation) = state { return incarnation }
        return nil
    }

    /// Whether the last heartbeat failed.
    var isFailing: Bool { failures > 0 }

    /// Returns the heartbeat that is due; `nil` while one is in flight, or after the lease was ended.
    public mutating func heartbeatDue(at now: Instant) -> Beat? {
        guard awaiting == nil else { return nil }
        let beat: Beat
        switch state {
        case .beginning(let incarnation): beat = .begin(incarnation)
        case .held(let incarnation): beat = .renew(incarnation)
        case .ended: return nil
        }
        awaiting = (beat, now)
        return beat
    }

    /// Handles the reply to a heartbeat. If Redis changed since the request, the reply is ignored.
    public mutating func heartbeatAnswered(
        _ beat: Beat, _ snapshot: LeaseSnapshot, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Verdict {
        guard let awaiting, awaiting.beat == beat else { return .nothing }
        let sent = awaiting.sent
        self.awaiting = nil
        failures = 0
        switch (state, beat) {
        case (.beginning(let incarnation), .begin(let asked)) where snapshot.held && asked == incarnation:
            _ = renewed(time: snapshot.time, sent: sent, at: now)
            state = .held(incarnation)
            defer { isFirst = false }
            return .began(incarnation, isFirst: isFirst, sent: sent)
        case (.held(let incarnation), .renew(let asked)) where snapshot.held && asked == incarnation:
            return .renewed(
                incarnation, sent: sent, afterGap: renewed(time: snapshot.time, sent: sent, at: now))
        case (.beginning, _):
            // Does not retry at once: a Redis that refuses every claim would be asked in a tight loop.
            redisChanged(using: &random)
            return .nothing
        case (.held, _):
            redisChanged(using: &random)
            return .lost
        case (.ended, _):
            return .nothing
        }
    }

    /// Handles a heartbeat that got no reply or an error. The next heartbeat asks again.
    ///
    /// - Returns: whether two in a row have failed.
    public mutating func heartbeatFailed(_ beat: Beat) -> Bool {
        guard awaiting?.beat == beat else { return false }
        awaiting = nil
        failures += 1
        return failures >= Self.fewFailures
    }

    /// Starts over with a new incarnation after a lost connection or a change of the primary. Redis may have lost
    /// writes, so everything is written again under a new name.
    public mutating func redisChanged(using random: inout some RandomNumberGenerator) {
        guard state != .ended else { return }
        awaiting = nil
        failures = 0
        lastRenewed = nil
        lastHeard = nil
        state = .beginning(placing(Incarnation(worker: worker, using: &random)))
    }

    /// Ends the lease in an orderly shutdown.
    ///
    /// - Returns: the last heartbeat; `nil` if there is no lease to end.
    public mutating func ending(after: Duration) -> Beat? {
        defer { state = .ended }
        guard case .held(let incarnation) = state else { return nil }
        return .end(incarnation, after: after)
    }

    /// - Returns: whether more than two heartbeats passed since the last renewal was answered, or Redis's clock was set.
    ///   If it is set forward, leases expire before their workers can renew them. If it is set back, new records may have
    ///   smaller versions than those that they replace.
    private mutating func renewed(time: Timestamp, sent: Instant, at now: Instant) -> Bool {
        until = time.advanced(by: lease - Self.clockTolerance)
        let isClockSet =
            lastHeard.map { time < $0.time || time.since($0.time) > now - $0.sent + Self.clockTolerance } ?? false
        let isAfterGap = isClockSet || lastRenewed.map { now - $0 > heartbeat * 2 } ?? false
        // Counts from the reply and not from the request: a slow request may be the first one answered after a gap.
        lastRenewed = now
        lastHeard = (time, sent)
        return isAfterGap
    }
}
