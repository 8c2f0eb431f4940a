// heartbeat, worker_read and worker_forget: who is alive.

public import RollcallCore
public import RollcallModel

extension TwinRedis {
    /// Begins, renews or ends a lease, and reads all leases.
    public mutating func heartbeat(_ beat: LeaseKeeper.Beat, lease: Duration) -> LeaseSnapshot {
        let (incarnation, length, held) =
            switch beat {
            case .begin(let new): (new, lease, leases[new] == nil && beats[new] == nil)
            case .renew(let own): (own, lease, isLiving(own))
            case .end(let own, let after): (own, after, isLiving(own))
            }
        if held {
            leases[incarnation] = time.advanced(by: length)
            beats[incarnation] = time
        }
        return LeaseSnapshot(held: held, time: time, leases: leases)
    }

    /// Looks up one incarnation.
    public func standing(of incarnation: Incarnation) -> WorkerStanding {
        WorkerStanding(time: time, leaseEnd: leases[incarnation], beat: beats[incarnation])
    }

    /// Forgets an incarnation.
    ///
    /// - Returns: `false` if its lease has not passed.
    public mutating func forget(_ incarnation: Incarnation) -> Bool {
        guard !isLiving(incarnation) else { return false }
        leases[incarnation] = nil
        beats[incarnation] = nil
        return true
    }

    private func isLiving(_ incarnation: Incarnation) -> Bool {
        leases[incarnation].map { $0 >= time } ?? false
    }
}
