// When weaker states (idle, background, in grace, removed) are written under a new incarnation. Redis may have lost the
// stronger states of other devices, so active devices are written first, by all workers.

internal import RollcallProtocol

/// When weaker states may be written.
package struct WeakerStates {
    package static let delay = Duration.seconds(1)

    /// How much longer a removal waits: the device may have reconnected to another worker, which writes it slightly later.
    package static let removals = Duration.milliseconds(250)

    /// From this moment, weaker states are written under the latest incarnation; `nil` under the first one.
    fileprivate(set) var start: Instant?
    /// Whether all have been written since. Until then, a further incarnation does not make them wait again.
    fileprivate var isComplete = true
}

extension Shard {
    /// Has weaker states wait under a further incarnation of the worker. If the lease of the former one still stands, they
    /// are written before it ends, since others judge them then.
    func deferWeakerStates(after former: Incarnation, _ snapshot: LeaseSnapshot, at now: Instant) {
        if weakerStates.isComplete {
            var start = now + WeakerStates.delay
            if let end = snapshot.leases[former], end >= snapshot.time {
                start = min(start, redis.clock.instant(of: end.advanced(by: .zero - ShardSettings.writing)))
            }
            weakerStates.start = max(now, start)
        }
        weakerStates.isComplete = false
        if let start = weakerStates.start { timers.remind(.weakerStates, at: start) }
    }

    /// Whether what a session decided is written later.
    func isDeferred(_ session: Session, at now: Instant) -> Bool {
        guard let start = weakerStates.start, !session.isActiveAndConnected else { return false }
        return now < (session.recorder?.state == nil ? start + WeakerStates.removals : start)
    }

    /// Writes the weaker states under the latest incarnation, and the removals slightly later.
    func writeWeakerStates(at now: Instant) {
        guard let start = weakerStates.start else { return }
        guard now >= start else { return timers.remind(.weakerStates, at: start) }
        for state in [.active, .idle, .background] as [DeviceState] { advanceAll(in: state, at: now) }
        let removals = start + WeakerStates.removals
        guard now >= removals else { return timers.remind(.weakerStates, at: removals) }
        advanceAll(in: nil, at: now)
        weakerStates.isComplete = true
    }

    private func advanceAll(in state: DeviceState?, at now: Instant) {
        for session in sessions.all where session.recorder?.state == state { advance(session, at: now) }
    }
}
