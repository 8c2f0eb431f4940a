// The scripts heartbeat, worker_read and worker_forget: which workers are alive.

public import RollcallCore
public import RollcallProtocol

extension TwinRedis {
    /// Starts, renews or ends a lease, and reads all leases.
    public mutating func heartbeat(_ beat: LeaseCoordinator.Beat, lease: Duration) -> LeaseSnapshot {
        let length = if case .end(_, let after) = beat { after } else { lease }
        if !planted.contains(.leasesIgnoreSteps) { shortenLeases(longerThan: length) }
        let (incarnation, held) =
            switch beat {
            case .begin(let new): (new, leases[new] == nil && beats[new] == nil)
            case .renew(let own), .end(let own, _): (own, isLiving(own))
            }
        if held {
            let end = time.advanced(by: length)
            leases[incarnation] = planted.contains(.leasesIgnoreSteps) ? max(end, leases[incarnation] ?? end) : end
            beats[incarnation] = time
        }
        var reset: Int64 = 0
        if held, case .begin(let new) = beat { reset = resetEvents(for: new) }
        return LeaseSnapshot(held: held, time: time, leases: leases, reset: reset)
    }

    /// Looks up one incarnation.
    public func standing(of incarnation: Incarnation) -> WorkerStanding {
        WorkerStanding(time: time, leaseEnd: leases[incarnation], beat: beats[incarnation])
    }

    /// Deletes an incarnation.
    ///
    /// - Returns: `false` if its lease has not expired.
    public mutating func forget(_ incarnation: Incarnation) -> Bool {
        guard !isLiving(incarnation) else { return false }
        leases[incarnation] = nil
        beats[incarnation] = nil
        return true
    }

    /// A lease whose beat is in the future ends its own length from now, because the clock was set back.
    private mutating func shortenLeases(longerThan length: Duration) {
        for (name, end) in leases where end > time.advanced(by: length) {
            guard let beat = beats[name], beat > time else { continue }
            leases[name] = time.advanced(by: end.since(beat))
            beats[name] = time
        }
    }

    private func isLiving(_ incarnation: Incarnation) -> Bool {
        leases[incarnation].map { $0 >= time } ?? false
    }
}
