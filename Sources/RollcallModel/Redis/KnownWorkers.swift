// What a reader of records knows of the workers that they name, and what it makes of those it does not know.

/// The workers that a reader need not look up, and the reader's own standing, without which it judges nobody missing.
public struct KnownWorkers: Hashable, Sendable {
    /// The reader's own incarnation; `nil` while it has no lease.
    public var own: Incarnation?
    public var living: Set<Incarnation>

    public init(own: Incarnation? = nil, living: Set<Incarnation> = []) {
        self.own = own
        self.living = living
    }

    /// Whom to look up after these records were read, in this order. The reader comes last: where its lease stands, Redis
    /// had not lost the others' when they were looked up.
    public func strangers(in records: [PresenceRecord]) -> [Incarnation] {
        let named = records.reduce(into: Set<Incarnation>()) {
            if !$1.devices.isEmpty { $0.formUnion($1.incarnations) }
        }
        let strangers = named.subtracting(living).sorted()
        guard let own, !strangers.isEmpty else { return strangers }
        return strangers.filter { $0 != own } + [own]
    }

    /// What the look-ups tell of those who are not known. To a Redis that does not know the reader either, which it lost
    /// with all else, nobody is dead for not being there.
    public func judged(_ standings: [Incarnation: WorkerStanding]) -> [Incarnation: WorkerStanding] {
        let knowsReader = own.flatMap { standings[$0]?.leaseEnd } != nil
        return standings.filter { !living.contains($0.key) && (knowsReader || $0.value.leaseEnd != nil) }
    }
}
