// An outage, of Redis or of this worker, that is over but not settled: other workers may still have to write their
// sessions again.

import RollcallModel

/// State kept after an outage until all workers have had time to restore what Redis may have lost. Until then,
/// observers keep what they saw before, except for newer records.
struct Outage: Sendable {
    var settles: Instant
    /// The last heartbeat before the outage, by Redis time; `nil` if this worker kept its lease.
    var lastBeat: Timestamp?

    /// Whether a lease expired before the outage. A lease that expired during the outage proves nothing, since every
    /// worker's may have.
    func hadPassed(_ standing: WorkerStanding) -> Bool {
        guard let end = standing.leaseEnd else { return false }
        return lastBeat.map { end < $0 } ?? true
    }
}
