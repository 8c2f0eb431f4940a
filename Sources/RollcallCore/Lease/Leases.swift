// Which workers are alive, as of the last heartbeat. Readers use this to ignore the devices of dead incarnations.

public import RollcallProtocol

/// The leases of all workers, as this worker's last heartbeat read them.
public struct Leases: Hashable, Sendable {
    public private(set) var living: Set<Incarnation> = []
    private var ends: [Incarnation: Timestamp] = [:]
    /// The earliest end of the leases that had not expired.
    private var firstEnd: Timestamp?
    /// Whether some incarnation's lease had expired and the incarnation was not swept yet. Its devices still count in
    /// the presence that other workers publish.
    public private(set) var leavesUnswept = false

    public init() {}

    /// Stores what a heartbeat read.
    ///
    /// - Returns: whether an incarnation that was alive before is now dead.
    public mutating func read(_ snapshot: LeaseSnapshot) -> Bool {
        let before = living
        living = snapshot.living
        ends = snapshot.leases
        firstEnd = living.compactMap { ends[$0] }.min()
        leavesUnswept = living.count < snapshot.leases.count
        return !before.isSubset(of: living)
    }

    /// Returns the incarnations whose lease, as last read, has not expired at `time`.
    ///
    /// Callers look up every other incarnation before they judge it. Since the last heartbeat it may have started or
    /// renewed its lease, or may have been swept and removed.
    public func living(at time: Timestamp) -> Set<Incarnation> {
        guard let firstEnd, firstEnd < time else { return living }
        return living.filter { incarnation in ends[incarnation].map { $0 >= time } ?? false }
    }
}
