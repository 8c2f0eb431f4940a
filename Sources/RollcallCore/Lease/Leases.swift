// Who lives and who is dead, as far as the last heartbeat knew: the judgement on which masking rests.

public import RollcallModel

/// Every worker's lease as this worker's last heartbeat read them.
public struct Leases: Hashable, Sendable {
    public private(set) var living: Set<Incarnation> = []
    /// Redis's clock when they were read.
    private var time: Timestamp?
    private var ends: [Incarnation: Timestamp] = [:]
    /// The first end of the leases that stood.
    private var firstEnd: Timestamp?
    /// Whether the lease of some incarnation had passed that is not swept yet. Its devices still count in what others
    /// publish of their users.
    public private(set) var leavesUnswept = false

    public init() {}

    /// Whether Redis's clock was set back since the last heartbeat, if this is what the next one read.
    func areSetBack(by snapshot: LeaseSnapshot) -> Bool {
        time.map { snapshot.time < $0 } ?? false
    }

    /// Takes what a heartbeat read.
    ///
    /// - Returns: whether an incarnation died that lived before.
    public mutating func read(_ snapshot: LeaseSnapshot) -> Bool {
        let before = living
        time = snapshot.time
        living = snapshot.living
        ends = snapshot.leases
        firstEnd = living.compactMap { ends[$0] }.min()
        leavesUnswept = living.count < snapshot.leases.count
        return !before.isSubset(of: living)
    }

    /// The incarnations whose lease stands at this moment, unless it is renewed, too. Whoever is not among them is looked
    /// up before being judged: it may have begun since the last heartbeat, have renewed its lease, or have been swept
    /// and forgotten.
    public func living(at time: Timestamp) -> Set<Incarnation> {
        guard let firstEnd, firstEnd < time else { return living }
        return living.filter { incarnation in ends[incarnation].map { $0 >= time } ?? false }
    }
}
