// What is known of a user. A record or a published change becomes a presence here and nowhere else; how much of it a viewer is
// shown is in Visibility.swift.
//
// - Devices of dead workers do not count.
// - A user who was never seen, or only in the background, looks like one who does not exist.
// - What is known is replaced only by what is newer.

internal import RollcallProtocol

/// A presence as observers may be shown it.
struct VisiblePresence: Hashable, Sendable {
    private(set) var presence: Presence
    /// The version of the record, which orders changes. Of a user who was never seen, the presence has version 0.
    private(set) var version: Int64
    /// Whether Redis had a record. A published change always comes from one.
    private(set) var isStored: Bool
    /// Whether the record has devices of dead workers, which do not count. Published presence includes them until they
    /// are swept.
    private(set) var isMasked = false

    /// Adds what the user says of themselves.
    mutating func say(_ words: PersonWords?) {
        if !presence.isNeverSeen || presence.words != nil { presence.words = presence.isNeverSeen ? nil : words }
    }

    // MARK: What a record says

    /// What a record says of a user of whom nothing is known. Until an outage has settled, nobody counts as dead.
    init(_ record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], _ judgement: Judgement) {
        let standings = judgement.counting(standings)
        presence = record.presence(past: standings)
        (version, isStored) = (record.version, record.isStored)
        if !standings.isEmpty { isMasked = record.incarnations.contains { standings[$0]?.isDead == true } }
    }

    /// What a record says, unless something newer is known. Until an outage has settled, only a newer version is news.
    init(
        _ record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], _ judgement: Judgement,
        unless known: VisiblePresence?
    ) {
        self.init(record, standings, judgement)
        guard let known else { return }
        // A missing record reads as a new one, and means nothing after an outage: Redis may have lost all data, or it was
        // read from a replaced primary while the user connected to the new one.
        let isNewer = version > known.version || (judgement.isSettling ? !known.isStored : version == known.version)
        guard !isNewer || known.isStored && !isStored else { return }
        let isMasked = isMasked || known.isMasked
        self = known
        self.isMasked = isMasked
    }

    // MARK: What a published change says

    /// - Parameter former: what was known until then.
    init(_ change: PresenceChange, after former: VisiblePresence?) {
        presence = change.visible
        (version, isStored, isMasked) = (change.presence.version, true, former?.isMasked == true)
    }

    /// Whether a published change is newer. An erased user may come back in the same millisecond and then has the same
    /// version; only the returned user has a last seen time. After Redis's clock was set back, a record that is made
    /// again has a version of that clock, and the known one is ahead of it.
    func isOlder(than change: PresenceChange, at time: Timestamp) -> Bool {
        let latest = time.advanced(by: LeaseCoordinator.clockTolerance).milliseconds
        let new = change.presence
        return new.version > version || new.version <= latest && version > latest
            || new.version == version && new.lastSeen != nil && presence.lastSeen == nil
    }
}
