// Who is dead: the judgement on which masking and sweeping rest.

public import RollcallModel

/// Every worker's lease as this worker's last heartbeat read them.
public struct Leases: Hashable, Sendable {
    private var ends: [Incarnation: Timestamp] = [:]
    /// Named by a record although the last heartbeat did not list them: too new for it, or swept long ago. The next
    /// heartbeat decides.
    private var unknown: Set<Incarnation> = []
    private var absent: Set<Incarnation> = []
    private var asOf = Timestamp(milliseconds: 0)

    public init() {}

    /// Takes what a heartbeat read.
    ///
    /// - Returns: the incarnations that are dead as of now and were not before.
    public mutating func read(_ snapshot: LeaseSnapshot) -> Set<Incarnation> {
        let before = self
        ends = snapshot.leases
        asOf = snapshot.time
        absent = absent.union(unknown).filter { ends[$0] == nil }
        unknown = []
        var newlyDead = Set(ends.keys.filter { isDead($0) && !before.isDead($0) })
        newlyDead.formUnion(absent.subtracting(before.absent))
        newlyDead.formUnion(before.ends.keys.filter { ends[$0] == nil && !before.isDead($0) })
        absent.formUnion(before.ends.keys.filter { ends[$0] == nil })
        return newlyDead
    }

    /// Whether a lease had passed by the time of the last heartbeat's reply. One that no heartbeat has listed counts
    /// as dead once a later heartbeat does not list it either.
    public func isDead(_ incarnation: Incarnation) -> Bool {
        ends[incarnation].map { $0 < asOf } ?? absent.contains(incarnation)
    }

    /// Takes note of the incarnations that a record names.
    public mutating func noticed(_ incarnations: some Sequence<Incarnation>) {
        for incarnation in incarnations where ends[incarnation] == nil && !absent.contains(incarnation) {
            unknown.insert(incarnation)
        }
    }
}
