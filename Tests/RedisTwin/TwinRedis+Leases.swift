// The scripts heartbeat, worker_read and worker_forget: which workers are alive.

public import RollcallCore
public import RollcallModel

extension TwinRedis {
    /// Starts, renews or ends a lease, and reads all leases.
    public mutating func heartbeat(_ beat: LeaseKeeper.Beat, lease: Duration) -> LeaseSnapshot {
        let length = if case .end(_, let after) = beat { after } else { lease }
        if !planted.contains(.leasesIgnoreSteps) { moveLeasesBack(notLongerThan: length) }
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
        return LeaseSnapshot(held: held, time: time, leases: leases)
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

    /// If the clock was set back since the last beat, moves all leases back too, because they were renewed before.
    private mutating func moveLeasesBack(notLongerThan length: Duration) {
        let suspicious = leases.filter { $0.value > time.advanced(by: length) }
        guard let latest = suspicious.keys.compactMap({ beats[$0] }).max(), latest > time else { return }
        let back = latest.since(time)
        for (name, end) in leases {
            leases[name] = end.advanced(by: .zero - back)
            if let beat = beats[name] { beats[name] = beat.advanced(by: .zero - back) }
        }
    }

    private func isLiving(_ incarnation: Incarnation) -> Bool {
        leases[incarnation].map { $0 >= time } ?? false
    }
}
