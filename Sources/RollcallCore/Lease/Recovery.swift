// Whether Redis may still lack what an outage, of Redis or of this worker, has lost. Until all workers have had time to
// write their sessions again, a missing record and an expired lease prove nothing.

internal import RollcallProtocol

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
