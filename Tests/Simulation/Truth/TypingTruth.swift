// The expected typing of a device in one conversation, as its worker received it.

internal import RollcallCore

/// The latest periods in which a device typed.
struct TypingTruth {
    private struct Bout {
        let edge: EdgeSession
        let from: Instant
        var lastSignal: Instant
        /// When it was stopped explicitly; otherwise, it ends `expiry` after the last signal.
        var stopped: Instant?
        /// The first signal since which all have reached Redis; `nil` if the last one may not have.
        var certain: Certainty?
        /// How much later Redis lets it expire, because its clock was set back.
        var delay = Duration.zero
        /// How much later than it came the last signal may count, because its worker did not know of that.
        var deferral = Duration.zero
        /// Whether its worker is gone, so that it ends only by expiry.
        var isLeft = false

        func ends(_ expiry: Duration) -> Instant {
            let end = lastSignal + expiry + (isLeft ? delay : .zero)
            return min(stopped ?? end, end)
        }
    }

    /// A signal that certainly reaches Redis.
    struct Certainty {
        let signal: Instant
        /// When it has reached Redis: a signal shortly after another one may be deferred.
        let known: Instant
    }

    private var bouts: [Bout] = []

    /// An observer's worker may estimate Redis's time too far ahead, by as much as a heartbeat's reply was delayed.
    private static let margin = Duration.milliseconds(400)

    /// - Parameters:
    ///   - came: when the signal was received. One that waited until it expired does not count.
    ///   - now: when it was processed.
    ///   - certain: `nil` during an outage between the worker and Redis.
    ///   - deferral: how much later than now it may count, because Redis's clock was just set back.
    mutating func signalled(
        on edge: EdgeSession, came: Instant, at now: Instant, expiry: Duration, certain: Certainty?, deferral: Duration
    ) {
        guard came + expiry > now else { return }
        if let last = bouts.indices.last, bouts[last].edge === edge, bouts[last].ends(expiry) > now {
            let isInTime = bouts[last].ends(expiry - Self.margin) > now
            bouts[last].lastSignal = came
            (bouts[last].delay, bouts[last].deferral) = (.zero, deferral)
            bouts[last].certain = certain.map { isInTime ? bouts[last].certain ?? $0 : $0 }
        } else {
            bouts.append(Bout(edge: edge, from: now, lastSignal: came, certain: certain, deferral: deferral))
            if bouts.count > 8 { bouts.removeFirst() }
        }
    }

    mutating func stopped(on edge: EdgeSession, at now: Instant) {
        stop(at: now) { $0 === edge }
    }

    /// Ends all typing, on any session.
    mutating func stopped(at now: Instant) {
        stop(at: now) { _ in true }
    }

    /// Redis's clock was set back: what it holds expires later by the step. A signal that is still deferred then counts
    /// from when it is sent.
    mutating func clockSetBack(by step: Duration, at now: Instant, expiry: Duration, throttle: Duration) {
        for index in bouts.indices where bouts[index].lastSignal + expiry + bouts[index].delay >= now {
            bouts[index].delay += step
            bouts[index].deferral = max(bouts[index].deferral, min(step, throttle))
        }
    }

    /// The worker is gone: signals that it deferred never reach Redis. The same may hold for a stop that Redis does not
    /// know of, so that this typing ends by expiry.
    ///
    /// - Parameter unwritten: what the worker received since then may not have been written.
    mutating func workerGone(_ worker: SimulatedWorker, unwritten: Instant) {
        for index in bouts.indices where bouts[index].edge.worker === worker {
            bouts[index].certain = nil
            bouts[index].isLeft = true
            if let stopped = bouts[index].stopped, stopped >= unwritten { bouts[index].stopped = nil }
        }
    }

    private mutating func stop(at now: Instant, where isMeant: (EdgeSession) -> Bool) {
        for index in bouts.indices where bouts[index].stopped == nil && isMeant(bouts[index].edge) {
            bouts[index].stopped = now
        }
    }

    /// Returns whether typing may be shown to an observer whose knowledge of a session may be as old as `earliest`.
    func mayType(since earliest: (EdgeSession) -> Instant, expiry: Duration) -> Bool {
        bouts.contains { $0.ends(expiry) >= earliest($0.edge) }
    }

    /// Returns whether some signal is recent enough for typing to be shown at all, even during outages. After a step
    /// back, its end does not count while it is too far ahead.
    func isAlive(at now: Instant, expiry: Duration) -> Bool {
        bouts.contains { bout in
            let end = bout.lastSignal + expiry
            return end + bout.deferral >= now || end + bout.delay >= now && end + bout.delay <= now + expiry * 2
        }
    }

    /// Returns whether typing must be shown to observers whose knowledge is no older than `earliest`.
    ///
    /// - Parameters:
    ///   - session: the device's newest session, which may override what an older one sent.
    ///   - outage: when the last outage between a session's worker and Redis ended.
    func mustType(
        on session: EdgeSession?, since earliest: Instant, until now: Instant, outage: (EdgeSession) -> Instant,
        expiry: Duration
    ) -> Bool {
        guard let bout = bouts.last, bout.edge === session, let certain = bout.certain else { return false }
        return certain.known <= earliest && certain.signal >= outage(bout.edge)
            && bout.ends(expiry - Self.margin) > now
    }
}
