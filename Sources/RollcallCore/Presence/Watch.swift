// A user as one shard watches them: what is known, by version, and what the watchers were last shown.

internal import RollcallModel

/// A user whose presence sessions of this shard watch.
public struct Watch: Sendable {
    enum Phase: Hashable, Sendable {
        case subscribing
        /// Subscribed; the record is being read. Changes heard meanwhile count by their version.
        case reading
        case live
    }

    /// What a record means.
    struct Reading: Hashable, Sendable {
        var presence: Presence
        /// The dead whose devices do not count.
        var masked: Set<Incarnation> = []
    }

    /// What the watchers have seen: most of the time what is known, which takes no room beside it.
    private enum Shown: Sendable {
        case nothing
        case known
        indirect case former(Presence)
    }

    let user: UserID
    var phase = Phase.subscribing
    /// Whether the next read counts whatever its version.
    var nextReadIsAuthoritative = false
    /// Whether a change came while a read was under way, which may be older.
    private(set) var heardMeanwhile = false
    private var readsUnderWay: Int32 = 0
    /// Whether an authoritative read begins when no other is under way.
    private var awaitsReads = false
    /// Whether the version known may be greater than those to come.
    private(set) var hasOutrunVersion = false
    /// From when on a change is shown at once.
    private(set) var nextNews = Instant(nanoseconds: 0)
    /// After which heartbeat a read first found no record where there had been one; `nil` if the last found it.
    var missingSince: Int32?
    var watchers = Watchers()
    /// Sessions that watch from before anything is known.
    var newcomers: Set<SessionKey> = []
    private var known: Presence?
    private var hasShown = Shown.nothing
    /// The dead whose devices did not count in the last reading. In what is published they do, until they are swept.
    private(set) var masked: Set<Incarnation> = []

    /// What is known of the user.
    private(set) var presence: Presence? {
        get { known }
        set {
            if case .known = hasShown, let known, known != newValue { hasShown = .former(known) }
            known = newValue
        }
    }

    /// What the watchers were last shown.
    var shown: Presence? {
        switch hasShown {
        case .nothing: nil
        case .known: known
        case .former(let presence): presence
        }
    }

    /// Whether there is something to show to whoever begins to watch.
    var isShown: Bool { shown != nil }

    init(user: UserID) {
        self.user = user
    }

    /// A session has one more reason to watch.
    mutating func gained(_ watcher: SessionKey) {
        watchers.insert(watcher)
        if shown == nil { newcomers.insert(watcher) }
    }

    /// A session has one reason less to watch.
    ///
    /// - Returns: whether that was its last; false if it had none.
    mutating func lost(_ watcher: SessionKey) -> Bool {
        guard watchers.remove(watcher) else { return false }
        newcomers.remove(watcher)
        return true
    }

    /// A change was published: it counts if it is newer.
    mutating func changed(_ change: Presence) {
        heard()
        if let presence, !hasOutrunVersion, !change.isNewer(than: presence) { return }
        presence = change
        hasOutrunVersion = false
    }

    /// Redis's clock was set back. Versions are moments at least: that of a record which is made only now may be less
    /// than the one known, and is newer all the same.
    mutating func clockSetBack() {
        hasOutrunVersion = presence != nil
    }

    /// Something was published: reads under way may be older.
    mutating func heard() {
        heardMeanwhile = heardMeanwhile || readsUnderWay > 0
    }

    /// The record is to be read, unless its channel is not confirmed: its confirmation asks again. An authoritative read
    /// begins when all others have ended. Otherwise what was heard during one of them would count against the next, and
    /// two that overlap would keep each other from counting without end.
    ///
    /// - Returns: whom to read, and whether that counts whatever its version; `nil` if nobody.
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

    /// A read is answered. One from before the channel was lost, or never had, may miss what comes: it is read again.
    ///
    /// - Returns: whether it counts.
    mutating func mayTake(isAuthoritative: Bool) -> Bool {
        guard phase == .subscribing else { return true }
        if isAuthoritative { nextReadIsAuthoritative = true }
        return false
    }

    /// A read was answered, or failed. It may be of a former watch of the same user.
    ///
    /// - Returns: whether a read that waited for this may begin.
    mutating func readEnded() -> Bool {
        readsUnderWay = max(0, readsUnderWay - 1)
        guard readsUnderWay == 0 else { return false }
        heardMeanwhile = false
        defer { awaitsReads = false }
        return awaitsReads
    }

    /// The record was read, and this is what it means.
    ///
    /// - Returns: whether whoever saw the user before may have news.
    @discardableResult
    mutating func read(_ reading: Reading) -> Bool {
        phase = .live
        if presence != reading.presence { hasOutrunVersion = false }
        presence = reading.presence
        masked = reading.masked
        return shown != nil && shown != presence
    }

    /// Somebody was answered this, whatever state the watch is in.
    mutating func got(_ reading: Reading) {
        guard presence != nil else { return }
        presence = reading.presence
        masked = reading.masked
    }

    /// What the watchers should be shown now; `nil` if they have seen it. Further changes wait until `next`.
    mutating func news(next: Instant) -> Presence? {
        guard phase == .live || shown != nil, let presence else { return nil }
        defer { hasShown = .known }
        guard let shown, presence.looksDifferent(from: shown) else { return nil }
        nextNews = next
        return presence
    }

    /// Something is known by now, and is what is shown to whoever has seen nothing yet.
    ///
    /// - Returns: those who waited for it.
    mutating func snapshotKnown() -> Set<SessionKey> {
        if case .nothing = hasShown, presence != nil { hasShown = .known }
        guard !newcomers.isEmpty else { return [] }
        defer { newcomers = [] }
        return newcomers
    }
}

extension Presence {
    /// Whether a published change is newer. A user who was erased may come back within the millisecond of the erasure,
    /// and then has its version; only the user who is back was ever seen.
    fileprivate func isNewer(than known: Presence) -> Bool {
        version > known.version || version == known.version && lastSeen != nil && known.lastSeen == nil
    }
}
