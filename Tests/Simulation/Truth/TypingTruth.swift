// What is true of a device's typing in one conversation, as its worker heard it.

internal import RollcallCore

/// The latest bouts of a device's typing.
struct TypingTruth {
    private struct Bout {
        let edge: EdgeSession
        let from: Instant
        var lastSignal: Instant
        /// When it ended by a word; it ends by itself `expiry` after the last signal.
        var stopped: Instant?
        /// The first of the signals of which all reached Redis; `nil` if the last may not have.
        var certain: Certainty?

        func ends(_ expiry: Duration) -> Instant { min(stopped ?? lastSignal + expiry, lastSignal + expiry) }
    }

    /// A signal that reaches Redis.
    struct Certainty {
        let signal: Instant
        /// When it is there: one that comes soon after another may be deferred.
        let known: Instant
    }

    private var bouts: [Bout] = []

    /// An observer's worker may reckon Redis time ahead by as much as a heartbeat took on its way.
    private static let margin = Duration.milliseconds(400)

    /// - Parameters:
    ///   - came: when the signal came. One that waited so long that it has expired counts for nothing.
    ///   - now: when it was taken.
    ///   - certain: `nil` if something is amiss between the worker and Redis.
    mutating func signalled(
        on edge: EdgeSession, came: Instant, at now: Instant, expiry: Duration, certain: Certainty?
    ) {
        guard came + expiry > now else { return }
        if let last = bouts.indices.last, bouts[last].edge === edge, bouts[last].ends(expiry) > now {
            let isInTime = bouts[last].ends(expiry - Self.margin) > now
            bouts[last].lastSignal = came
            bouts[last].certain = certain.map { isInTime ? bouts[last].certain ?? $0 : $0 }
        } else {
            bouts.append(Bout(edge: edge, from: now, lastSignal: came, certain: certain))
            if bouts.count > 8 { bouts.removeFirst() }
        }
    }

    mutating func stopped(on edge: EdgeSession, at now: Instant) {
        stop(at: now) { $0 === edge }
    }

    /// Whoever typed on whatever session.
    mutating func stopped(at now: Instant) {
        stop(at: now) { _ in true }
    }

    /// What its worker had deferred never reaches Redis. Nor may a stop of which Redis has not heard: nobody else knows
    /// of it, and the typing ends by itself.
    ///
    /// - Parameter unwritten: since when what the worker heard may not have been written.
    mutating func workerGone(_ worker: SimulatedWorker, unwritten: Instant) {
        for index in bouts.indices where bouts[index].edge.worker === worker {
            bouts[index].certain = nil
            if let stopped = bouts[index].stopped, stopped >= unwritten { bouts[index].stopped = nil }
        }
    }

    private mutating func stop(at now: Instant, where isMeant: (EdgeSession) -> Bool) {
        for index in bouts.indices where bouts[index].stopped == nil && isMeant(bouts[index].edge) {
            bouts[index].stopped = now
        }
    }

    /// Whether it may be shown to somebody who may be behind what a session says by as much as from `earliest` on.
    func mayType(since earliest: (EdgeSession) -> Instant, expiry: Duration) -> Bool {
        bouts.contains { $0.ends(expiry) >= earliest($0.edge) }
    }

    /// Whether some signal is recent enough for typing to be shown at all, whatever is amiss.
    func isAlive(at now: Instant, expiry: Duration) -> Bool {
        bouts.contains { $0.lastSignal + expiry >= now }
    }

    /// Whether it must be shown to everybody who is not behind further than from `earliest` on.
    ///
    /// - Parameters:
    ///   - session: the device's newest; what an older one says may be overridden by it.
    ///   - outage: when something was last amiss between a session's worker and Redis.
    func mustType(
        on session: EdgeSession?, since earliest: Instant, until now: Instant, outage: (EdgeSession) -> Instant,
        expiry: Duration
    ) -> Bool {
        guard let bout = bouts.last, bout.edge === session, let certain = bout.certain else { return false }
        return certain.known <= earliest && certain.signal >= outage(bout.edge)
            && bout.ends(expiry - Self.margin) > now
    }
}
