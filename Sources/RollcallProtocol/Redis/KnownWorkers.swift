// Which workers a reader of records knows to be alive, and how it judges the others that the records name.

/// The workers that need no lookup, and the reader's own incarnation, without which it judges no worker as dead.
public struct KnownWorkers: Hashable, Sendable {
    /// The reader's own incarnation; `nil` while it has no lease.
    public var own: Incarnation?
    public var living: Set<Incarnation>

    public init(own: Incarnation? = nil, living: Set<Incarnation> = []) {
        self.own = own
        self.living = living
    }

    /// Returns the incarnations to look up after these records were read, in this order. The reader's own is last: if
    /// its lease is found, Redis had not lost the others' when they were looked up.
    public func strangers(in records: [PresenceRecord]) -> [Incarnation] {
        let named = records.reduce(into: Set<Incarnation>()) {
            if !$1.devices.isEmpty { $0.formUnion($1.incarnations) }
        }
        let strangers = named.subtracting(living).sorted()
        guard let own, !strangers.isEmpty else { return strangers }
        return strangers.filter { $0 != own } + [own]
    }

    /// Returns the results that can be used. If Redis does not know the reader's own incarnation, it has lost its data,
    /// so a missing incarnation says nothing. A reader whose own lease has passed judges nobody: Redis's clock may have
    /// been set forward, and with it all leases have passed.
    public func judged(_ standings: [Incarnation: WorkerStanding]) -> [Incarnation: WorkerStanding] {
        let reader = own.flatMap { standings[$0] }
        let knowsReader = reader?.leaseEnd != nil
        if let reader, knowsReader, reader.isDead { return [:] }
        return standings.filter { !living.contains($0.key) && (knowsReader || $0.value.leaseEnd != nil) }
    }
}
