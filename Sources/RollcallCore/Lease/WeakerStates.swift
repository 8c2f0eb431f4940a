// When weaker states (idle, background, in grace, removed) are written under a new incarnation. Redis may have lost the
// stronger states of other devices, so active devices are written first, by all workers.

internal import RollcallProtocol

/// When weaker states may be written.
package struct WeakerStates {
    package static let delay = Duration.seconds(1)

    /// How much longer a removal waits: the device may have reconnected to another worker, which writes it slightly later.
    package static let removals = Duration.milliseconds(250)

    /// From this moment, weaker states are written under the latest incarnation; `nil` under the first one.
    private(set) var start: Instant?
    /// Whether all have been written since. Until then, a further incarnation does not make them wait again.
    private var isComplete = true

    /// Has weaker states wait under a further incarnation of the worker. If the lease of the former one still stands, they
    /// are written before it ends, since others judge them then.
    mutating func incarnationBegan(
        after former: Incarnation, _ snapshot: LeaseSnapshot, clock: RedisClock, at now: Instant
    ) {
        if isComplete {
            var start = now + Self.delay
            if let end = snapshot.leases[former], end >= snapshot.time {
                start = min(start, clock.instant(of: end.advanced(by: .zero - ShardSettings.writing)))
            }
            self.start = max(now, start)
        }
        isComplete = false
    }

    mutating func areWritten() { isComplete = true }

    /// Whether what a session decided is written later.
    func areDeferred(of session: Session, at now: Instant) -> Bool {
        guard let start, !session.isActiveAndConnected else { return false }
        return now < (session.recorder?.state == nil ? start + Self.removals : start)
    }
}
