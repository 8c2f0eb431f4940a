// An outage, of Redis or of one's own, that is over and not settled yet.

import RollcallModel

/// What a worker keeps of an outage until others have said again what Redis may have forgotten: what its observers saw
/// stays as long, but for newer records.
struct Outage: Sendable {
    var settles: Instant
    /// The last heartbeat before it, by Redis time, if it lasted long enough for this worker's lease to be lost.
    var lastBeat: Timestamp?

    /// Whether a lease passed, and not in the outage, in which every other one may have.
    func hadPassed(_ standing: WorkerStanding) -> Bool {
        guard let end = standing.leaseEnd else { return false }
        return lastBeat.map { end < $0 } ?? true
    }
}
