// One watched user on one shard: the latest known presence, by version, and what watchers last saw.

internal import RollcallModel

/// A user whose presence sessions of this shard watch.
public struct Watch: Sendable {
    enum Phase: Hashable, Sendable {
        case subscribing
        /// Subscribed; the record is being read. Changes received during the read are merged by version.
        case reading
        case live
    }

    /// The latest known presence, and the version of the record that it comes from. The record's version orders changes.
    /// A user who was never seen is shown another one, so the presence has a version of its own.
    struct Known: Hashable, Sendable {
        /// The presence that observers are shown.
        var presence: Presence
        var version: Int64
        /// Whether Redis had a record. A published change always comes from one.
        var isStored: Bool
    }

    /// The presence derived from a record.
    struct Reading: Hashable, Sendable {
        var known: Known
        /// Dead incarnations whose devices do not count.
        var masked: Set<Incarnation> = []
        var presence: Presence { known.presence }
    }

    /// What watchers have seen. It usually equals the known presence, and is then not stored a second time.
    private enum Shown: Sendable {
        case nothing
        case known
        indirect case former(Presence)
    }

    let user: UserID
    var phase = Phase.subscribing
    /// Whether the next read is authoritative: it counts regardless of its version.
    var nextReadIsAuthoritative = false
    /// Whether a change arrived during a read, which may be older than the change.
    private(set) var heardMeanwhile = false
    private var readsUnderWay: Int32 = 0
    /// Whether an authoritative read starts once no other is in flight.
    private var awaitsReads = false
    /// When changes are shown.
    private(set) var newsPace = ChangePace()
    /// The heartbeat count when a read first found no record although one was known; `nil` if the last read found one.
    var missingSince: Int32?
    var watchers = Watchers()
    /// Sessions that started to watch before anything was known.
    var newcomers: Set<SessionKey> = []
    private(set) var known: Known? {
        willSet {
            if case .known = hasShown, let known, known.presence != newValue?.presence {
                hasShown = .former(known.presence)
            }
        }
    }
    private var hasShown = Shown.nothing
    /// Incarnations whose devices did not count in the last reading, because they are dead. Published presence includes
    /// those devices until they are swept.
    private(set) var masked: Set<Incarnation> = []

    /// The latest known presence, as observers may be shown it.
    var presence: Presence? { known?.presence }

    /// What watchers were last shown.
    var shown: Presence? {
        switch hasShown {
        case .nothing: nil
        case .known: presence
        case .former(let presence): presence
        }
    }

    /// Whether new watchers can be shown a presence now.
    var isShown: Bool { shown != nil }

    init(user: UserID) {
        self.user = user
    }

    /// Adds one reason for a session to watch.
    mutating func gained(_ watcher: SessionKey) {
        watchers.insert(watcher)
        if shown == nil { newcomers.insert(watcher) }
    }

    /// Removes one reason for a session to watch.
    ///
    /// - Returns: whether that was its last reason; false if it had none.
    mutating func lost(_ watcher: SessionKey) -> Bool {
        guard watchers.remove(watcher) else { return false }
        newcomers.remove(watcher)
        return true
    }

    /// Applies a published change if it is newer.
    ///
    /// - Parameter time: Redis's, by the worker's estimate.
    mutating func changed(_ change: PresenceChange, at time: Timestamp) {
        heard()
        if let known, !change.presence.isNewer(than: known, at: time) { return }
        known = Known(change, after: presence)
    }

    /// Notes that something was published: reads in flight may be older.
    mutating func heard() {
        heardMeanwhile = heardMeanwhile || readsUnderWay > 0
    }

    /// Starts a read, unless the channel is not confirmed; its confirmation asks again. An authoritative read starts
    /// only when all other reads have ended. Otherwise a change received during one read would invalidate the other,
    /// and two overlapping reads could keep each other from ever counting.
    ///
    /// - Returns: the user to read, and whether the read is authoritative; `nil` if no read starts.
    mutating func readBegan() -> (user: UserID, isAuthoritative: Bool)? {
        guard phase != .subscribing else { return nil }
        guard !nextReadIsAuthoritative || readsUnderWay == 0 else {
            awaitsReads = true
            return nil
        }
        defer { nextReadIsAuthoritative = false }
        readsUnderWay += 1
        return (user, nextReadIsAuthoritative)
    }

    /// Handles the result of a read. If the channel is not confirmed, the result may miss later changes, so the user is
    /// read again.
    ///
    /// - Returns: whether the result counts.
    mutating func mayTake(isAuthoritative: Bool) -> Bool {
        guard phase == .subscribing else { return true }
        if isAuthoritative { nextReadIsAuthoritative = true }
        return false
    }

    /// Ends a read that was answered or failed. It may belong to an earlier watch of the same user.
    ///
    /// - Returns: whether a read that waited for this one may start.
    mutating func readEnded() -> Bool {
        readsUnderWay = max(0, readsUnderWay - 1)
        guard readsUnderWay == 0 else { return false }
        heardMeanwhile = false
        defer { awaitsReads = false }
        return awaitsReads
    }

    /// Takes the presence that a read resulted in.
    ///
    /// - Returns: whether sessions that saw the user before may need an update.
    @discardableResult
    mutating func read(_ reading: Reading) -> Bool {
        phase = .live
        known = reading.known
        masked = reading.masked
        return shown != nil && shown != presence
    }

    /// Takes the presence that answered a session's `get`, in any phase.
    mutating func got(_ reading: Reading) {
        guard known != nil else { return }
        known = reading.known
        masked = reading.masked
    }

    /// Returns the presence to show to watchers now; `nil` if they have seen it.
    ///
    /// - Parameter interval: how often ``newsPace`` lets a change through.
    mutating func news(at now: Instant, every interval: Duration) -> Presence? {
        guard phase == .live || shown != nil, let presence else { return nil }
        defer { hasShown = .known }
        guard let shown, presence.looksDifferent(from: shown) else { return nil }
        newsPace.passed(at: now, every: interval)
        return presence
    }

    /// Makes the known presence, if any, the one that is shown to sessions that have seen nothing yet.
    ///
    /// - Returns: the sessions that waited for it.
    mutating func snapshotKnown() -> Set<SessionKey> {
        if case .nothing = hasShown, presence != nil { hasShown = .known }
        guard !newcomers.isEmpty else { return [] }
        defer { newcomers = [] }
        return newcomers
    }
}

extension Watch: Named {
    var name: UserID { user }
}

extension Watch.Known {
    /// - Parameter former: the presence shown until then. If the user was never seen, it stays as it is.
    fileprivate init(_ change: PresenceChange, after former: Presence?) {
        var presence = change.visible
        if presence.isNeverSeen, let former, former.isNeverSeen { presence = former }
        self.init(presence: presence, version: change.presence.version, isStored: true)
    }
}

extension Presence {
    /// Whether a published change is newer. An erased user may come back in the same millisecond and then has the same
    /// version; only the returned user has a last seen time. After Redis's clock was set back, a record that is made
    /// again has a version of that clock, and the known one is ahead of it.
    fileprivate func isNewer(than known: Watch.Known, at time: Timestamp) -> Bool {
        let latest = time.advanced(by: LeaseKeeper.clockTolerance).milliseconds
        return version > known.version || version <= latest && known.version > latest
            || version == known.version && lastSeen != nil && known.presence.lastSeen == nil
    }
}
