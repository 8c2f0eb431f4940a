// A worker's own lease: claimed at the start, renewed by heartbeats, and never revived once it may have been lost.

public import RollcallModel

/// The life of one worker's lease, incarnation after incarnation.
public struct LeaseKeeper: Sendable {
    /// What a heartbeat asks for.
    public enum Beat: Hashable, Sendable {
        /// A lease under a new incarnation.
        case begin(Incarnation)
        /// More time for the present one.
        case renew(Incarnation)
        /// The last one: the lease ends `after` from now.
        case end(Incarnation, after: Duration)
    }

    /// What the answer to a heartbeat means.
    public enum Verdict: Hashable, Sendable {
        /// A new incarnation stands; all sessions are asserted under it. The first is the process's first.
        case began(Incarnation, isFirst: Bool, sent: Instant)
        /// The lease goes on. After a gap others may have been unable to renew theirs, too.
        case renewed(sent: Instant, afterGap: Bool)
        /// The lease was lost: a new one is to be claimed, at once.
        case lost
        /// It was refused, or is the answer to a heartbeat of a former life.
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
    /// Since when heartbeats have followed each other under one incarnation without a gap over two of them.
    private var steadySince: Instant?
    /// When the last renewal was answered.
    private var lastRenewed: Instant?
    /// What Redis's clock said in that answer, and when it was asked for.
    private var lastHeard: (time: Timestamp, sent: Instant)?
    /// How many heartbeats in a row Redis has refused because it takes no writes.
    private var refusals = 0

    /// After so many refusals in a row, Redis counts as one that takes no writes.
    static let fewRefusals = 2

    /// Later than this, by Redis time, no write of the worker's sessions may take effect.
    public private(set) var until = Timestamp(milliseconds: 0)

    /// A script may run this much after its `until` on another host's clock and still be before the lease's end.
    public static let clockTolerance = Duration.milliseconds(500)

    /// - Parameter placing: gives a name that was drawn another random part, where it matters which.
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

    /// Whether the worker has watched leases long enough to sweep those that passed: just started, or back from a
    /// pause, it might take a worker for dead that only it has not heard.
    public func maySweep(at now: Instant) -> Bool {
        guard let steadySince, incarnation != nil else { return false }
        return now - steadySince >= Patience.beforeJudging(lease: lease)
    }

    /// How long after a heartbeat the next one follows. Where Redis refuses writes, sooner: from the first heartbeat
    /// that it takes again, it is more than a second until all is said.
    public var pause: Duration { refusals > 0 ? min(heartbeat, .milliseconds(500)) : heartbeat }

    /// The heartbeat that is due; `nil` while one is under way or after the end.
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

    /// A heartbeat was answered. Where Redis changed meanwhile it is another that counts, and this one says nothing.
    public mutating func heartbeatAnswered(
        _ beat: Beat, _ snapshot: LeaseSnapshot, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Verdict {
        guard let awaiting, awaiting.beat == beat else { return .nothing }
        let sent = awaiting.sent
        self.awaiting = nil
        refusals = 0
        switch (state, beat) {
        case (.beginning(let incarnation), .begin(let asked)) where snapshot.held && asked == incarnation:
            _ = renewed(time: snapshot.time, sent: sent, at: now)
            state = .held(incarnation)
            defer { isFirst = false }
            return .began(incarnation, isFirst: isFirst, sent: sent)
        case (.held(let incarnation), .renew(let asked)) where snapshot.held && asked == incarnation:
            return .renewed(sent: sent, afterGap: renewed(time: snapshot.time, sent: sent, at: now))
        case (.beginning, _):
            // Not again at once: a Redis that refuses every beginning would be asked without a pause.
            redisChanged(using: &random)
            return .nothing
        case (.held, _):
            redisChanged(using: &random)
            return .lost
        case (.ended, _):
            return .nothing
        }
    }

    /// The heartbeat's reply will not come. The next one asks again.
    public mutating func heartbeatFailed(_ beat: Beat) {
        if awaiting?.beat == beat { awaiting = nil }
    }

    /// Redis answered a heartbeat with an error. The next heartbeat asks again.
    ///
    /// - Parameter isOfWrites: whether the error says that Redis takes no writes at all.
    /// - Returns: whether Redis counts as one that answers and takes no writes: after two such errors in a row. Under a
    ///   lease, any error counts once the lease must have passed since it was last renewed.
    public mutating func heartbeatRefused(_ beat: Beat, isOfWrites: Bool, at now: Instant) -> Bool {
        guard awaiting?.beat == beat else { return false }
        awaiting = nil
        refusals = isOfWrites ? refusals + 1 : 0
        switch state {
        case .beginning: return refusals >= Self.fewRefusals
        case .held:
            let hasPassed = lastRenewed.map { now - $0 >= lease } ?? false
            return hasPassed || refusals >= Self.fewRefusals
        case .ended: return false
        }
    }

    /// A connection was lost, or Redis said that it is another primary: what it holds may not be what was written, so
    /// that everything is said again under a new name.
    public mutating func redisChanged(using random: inout some RandomNumberGenerator) {
        guard state != .ended else { return }
        awaiting = nil
        refusals = 0
        steadySince = nil
        lastRenewed = nil
        lastHeard = nil
        state = .beginning(placing(Incarnation(worker: worker, using: &random)))
    }

    /// The worker leaves in good order.
    ///
    /// - Returns: the last heartbeat; `nil` if there is no lease to end.
    public mutating func ending(after: Duration) -> Beat? {
        defer { state = .ended }
        guard case .held(let incarnation) = state else { return nil }
        return .end(incarnation, after: after)
    }

    /// - Returns: whether more than two heartbeats passed since the last renewal was answered, by this clock or by that
    ///   of Redis. Where Redis's clock is set forward, leases pass that their workers had no time to renew.
    private mutating func renewed(time: Timestamp, sent: Instant, at now: Instant) -> Bool {
        until = time.advanced(by: lease - Self.clockTolerance)
        let isSetForward = lastHeard.map { time.since($0.time) > now - $0.sent + Self.clockTolerance } ?? false
        let isAfterGap = isSetForward || lastRenewed.map { now - $0 > heartbeat * 2 } ?? false
        if isAfterGap { steadySince = nil }
        // Not since it was sent: what took long on its way may be the first to be answered after the gap.
        steadySince = steadySince ?? now
        lastRenewed = now
        lastHeard = (time, sent)
        return isAfterGap
    }
}
