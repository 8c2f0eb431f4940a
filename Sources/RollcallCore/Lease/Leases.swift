// Who lives and who is dead, as far as the last heartbeat knew: the judgement on which masking rests.

public import RollcallModel

/// Every worker's lease as this worker's last heartbeat read them.
public struct Leases: Hashable, Sendable {
    /// The incarnations whose lease stood. Whoever is not among them is looked up before being judged: it may have
    /// begun since, or have been swept and forgotten.
    public private(set) var living: Set<Incarnation> = []
    /// Whether the lease of some incarnation had passed that is not swept yet. Its devices still count in what others
    /// publish of their users.
    public private(set) var leavesUnswept = false

    public init() {}

    /// Takes what a heartbeat read.
    ///
    /// - Returns: whether an incarnation died that lived before.
    public mutating func read(_ snapshot: LeaseSnapshot) -> Bool {
        let before = living
        living = snapshot.living
        leavesUnswept = living.count < snapshot.leases.count
        return !before.isSubset(of: living)
    }
}
