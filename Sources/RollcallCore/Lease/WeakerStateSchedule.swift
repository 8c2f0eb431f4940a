// When weaker states (idle, background, in grace, removed) are written under a new incarnation. Redis may have lost the
// stronger states of other devices, so active devices are written first.

internal import RollcallProtocol

struct WeakerStateSchedule: Sendable {
    /// From this moment, weaker states are written under the latest incarnation; `nil` under the first one.
    private(set) var start: Instant?
    /// The last incarnation under which everything was written, including weaker states.
    private var complete: Incarnation?

    /// From this moment, removals are written too. The device may have reconnected to another worker, which writes it
    /// slightly later.
    var removals: Instant? { start.map { $0 + RecoveryDelay.removals } }

    /// Whether a weaker state, or a removal (`nil`), is written later.
    func defers(_ state: DeviceState?, at now: Instant) -> Bool {
        guard let turn = state == nil ? removals : start else { return false }
        return now < turn
    }

    /// Handles a further incarnation of the worker.
    ///
    /// If the lease under which everything was last written is still in Redis, weaker states are written before it
    /// expires, because other workers judge then. And if the former lease is in Redis, under which this delay had
    /// already started, nothing was lost since, and the delay does not start again.
    mutating func incarnationBegan(
        after former: Incarnation, _ snapshot: LeaseSnapshot, clock: RedisClock, at now: Instant
    ) {
        var next = now + RecoveryDelay.weakerStates
        if former != complete, snapshot.leases[former] != nil { next = min(next, start ?? next) }
        if let end = complete.flatMap({ snapshot.leases[$0] }), end >= snapshot.time {
            next = min(next, clock.instant(of: end.advanced(by: .zero - ShardSettings.writing)))
        }
        start = max(now, next)
    }

    /// Handles that everything is written under this incarnation.
    mutating func completed(under incarnation: Incarnation) {
        complete = incarnation
    }
}
