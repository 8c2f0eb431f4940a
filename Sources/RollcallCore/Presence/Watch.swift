// One watched user on one shard: the latest known presence, by version, and what watchers last saw. What a read or a
// published change means for it is decided here.

internal import RollcallProtocol

/// A user whose presence sessions of this shard watch.
final class Watch: Numbered {
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

    /// When a user is read again after a read.
    enum NextRead: Hashable, Sendable {
        case none
        case now
        case withHeartbeat
    }

    /// What watchers have seen. It usually equals the known presence, and is then not stored a second time.
    private enum Shown: Sendable {
        case nothing
        case known
        indirect case former(Presence)
    }

    let user: UserID
    let number: Int32
    private(set) var isOver = false
    private(set) var watchers = Watchers()
    /// Sessions that started to watch before anything was known.
    private var newcomers: Set<Session> = []

    private(set) var phase = Phase.subscribing
    /// Whether the next read is authoritative: it counts regardless of its version.
    private var nextReadIsAuthoritative = false
    /// Whether a change arrived during a read, which may be older than the change.
    private var heardMeanwhile = false
    private var readsUnderWay: Int32 = 0
    /// Whether an authoritative read starts once no other is in flight.
    private var awaitsReads = false
    /// The heartbeat count when a read first found no record although one was known; `nil` if the last read found one.
    private var missingSince: Int32?

    private var known: Known? {
        willSet {
            if case .known = hasShown, let known, known.presence != newValue?.presence {
                hasShown = .former(known.presence)
            }
        }
    }
    private var hasShown = Shown.nothing
    /// Incarnations whose devices did not count in the last reading, because they are dead. Published presence includes
    /// those devices until they are swept.
    private var masked: Set<Incarnation> = []
    /// When changes are shown.
    private var newsPace = ChangePace()

    init(user: UserID, number: Int32) {
        self.user = user
        self.number = number
    }

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

    // MARK: Watchers

    /// Adds one reason for a session to watch.
    func gained(_ watcher: Session) {
        watchers.insert(watcher)
        if shown == nil { newcomers.insert(watcher) }
    }

    /// Removes one reason for a session to watch.
    ///
    /// - Returns: whether that was its last reason; false if it had none.
    func lost(_ watcher: Session) -> Bool {
        guard watchers.remove(watcher) else { return false }
        newcomers.remove(watcher)
        return true
    }

    /// The last watcher has left: replies that are still to come find another watch of this user, or none.
    func ended() {
        assert(watchers.isEmpty && !isOver, "a watch ends once, without watchers")
        isOver = true
    }

    // MARK: The channel

    /// Changes may be missed until the channel is confirmed.
    func channelLost() { phase = .subscribing }

    /// A read that starts now misses nothing.
    func channelConfirmed() { phase = .reading }

    // MARK: Published changes

    /// Applies a published change if it is newer.
    ///
    /// - Returns: false if the record must be read instead. Published presence counts the devices of dead incarnations
    ///   until they are swept, so any status but offline may come from those devices alone.
    func changed(_ change: PresenceChange, _ redis: RedisState, at now: Instant) -> Bool {
        heard()
        let mayCountDead = !masked.isEmpty || redis.leavesUnswept && redis.outage == nil
        guard !mayCountDead || change.presence.status == .offline else { return false }
        if known.map({ change.presence.isNewer(than: $0, at: redis.time(at: now)) }) ?? true {
            known = Known(change, after: presence)
        }
        return true
    }

    /// Notes that something was published: reads in flight may be older.
    func heard() {
        heardMeanwhile = heardMeanwhile || readsUnderWay > 0
    }

    // MARK: Reads

    /// Has the next read be authoritative or not.
    func nextRead(isAuthoritative: Bool) { nextReadIsAuthoritative = isAuthoritative }

    /// Starts a read, unless the channel is not confirmed; its confirmation asks again. An authoritative read starts
    /// only when all other reads have ended. Otherwise a change received during one read would invalidate the other,
    /// and two overlapping reads could keep each other from ever counting.
    ///
    /// - Returns: whether the read is authoritative; `nil` if none starts.
    func readBegan() -> Bool? {
        guard phase != .subscribing else { return nil }
        guard !nextReadIsAuthoritative || readsUnderWay == 0 else {
            awaitsReads = true
            return nil
        }
        defer { nextReadIsAuthoritative = false }
        readsUnderWay += 1
        return nextReadIsAuthoritative
    }

    /// Ends a read that was answered or failed. It may belong to an earlier watch of the same user.
    ///
    /// - Returns: whether a read that waited for this one may start.
    private func readEnded() -> Bool {
        readsUnderWay = max(0, readsUnderWay - 1)
        guard readsUnderWay == 0 else { return false }
        heardMeanwhile = false
        defer { awaitsReads = false }
        return awaitsReads
    }

    /// Handles a failed read.
    func readFailed(isAuthoritative: Bool) -> NextRead {
        if isAuthoritative { nextReadIsAuthoritative = true }
        return readEnded() ? .now : .withHeartbeat
    }

    /// Handles the record that a read found. If the channel is not confirmed, it may miss later changes and does not
    /// count: the user is read again on the confirmation.
    ///
    /// - Returns: whether sessions that saw the user before may need an update, and the next read.
    func read(
        _ record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], isAuthoritative: Bool, _ redis: RedisState
    ) -> (isNews: Bool, next: NextRead) {
        guard phase != .subscribing else {
            if isAuthoritative { nextReadIsAuthoritative = true }
            return (false, readEnded() ? .now : .none)
        }
        var next = NextRead.none
        let isRemoved = isRemoved(record, redis)
        if missingSince != nil, !isRemoved { next = .withHeartbeat }
        var counts = isRemoved
        if !isRemoved, isAuthoritative, redis.outage == nil, missingSince == nil {
            // Such a read ignores versions, and a change that came during it may be newer.
            counts = !heardMeanwhile
            if heardMeanwhile { (nextReadIsAuthoritative, next) = (true, .now) }
        }
        take(reading(of: record, standings, isAuthoritative: counts, redis))
        phase = .live
        if readEnded() { next = .now }
        return (shown != nil && shown != presence, next)
    }

    /// Whether a known record was removed or has expired, rather than lost with all data. If Redis had lost all data,
    /// it would not know this worker's lease either. A record that is still missing after the next heartbeat is
    /// therefore gone.
    private func isRemoved(_ record: PresenceRecord, _ redis: RedisState) -> Bool {
        guard redis.outage == nil, !record.isStored, known?.isStored == true else {
            missingSince = nil
            return false
        }
        let now = Int32(clamping: redis.heartbeatCount)
        let since = missingSince ?? now
        missingSince = since
        return since < now && !heardMeanwhile
    }

    private func take(_ reading: Reading) {
        known = reading.known
        masked = reading.masked
    }

    /// Takes the presence that answered a session's `get`, in any phase.
    func got(_ reading: Reading) {
        if known != nil { take(reading) }
    }

    // MARK: What a record says

    /// Returns the presence to show of a user who is not watched.
    static func reading(
        of record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], _ redis: RedisState
    ) -> Reading {
        var dead = dead(in: record, standings)
        if let outage = redis.outage { dead = dead.filter { outage.hadPassed($0.value) } }
        return Reading(of: record, past: dead)
    }

    /// Returns the presence to show after a record was read.
    ///
    /// After an outage, until all workers have had time to write their sessions again, only newer records change what
    /// observers saw; and devices of incarnations that died during the outage still count, as those that did not count
    /// before it stay ignored.
    ///
    /// - Parameter isAuthoritative: whether the record counts whatever was known.
    func reading(
        of record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], isAuthoritative: Bool,
        _ redis: RedisState
    ) -> Reading {
        guard !isAuthoritative else { return Reading(of: record, past: Self.dead(in: record, standings)) }
        // After an outage, a missing record means nothing: it may have been read from a replaced primary while the user
        // connected to the new one.
        guard let known, redis.outage == nil || known.isStored else {
            return Self.reading(of: record, standings, redis)
        }
        var dead = Self.dead(in: record, standings)
        if redis.outage != nil { dead = dead.filter { masked.contains($0.key) } }
        var reading = Reading(of: record, past: dead)
        if !isNewer(reading.known, than: known, isSettled: redis.outage == nil) { reading.known = known }
        return reading
    }

    /// A missing record does not count as newer, although it reads as one: Redis may have lost all data.
    private func isNewer(_ read: Known, than known: Known, isSettled: Bool) -> Bool {
        guard read.isStored || !known.isStored else { return false }
        return isSettled ? read.version >= known.version : read.version > known.version
    }

    /// Returns the incarnations, all dead, that a record names.
    private static func dead(
        in record: PresenceRecord, _ standings: [Incarnation: WorkerStanding]
    ) -> [Incarnation: WorkerStanding] {
        guard !standings.isEmpty else { return [:] }
        let named = record.incarnations
        return standings.filter { $0.value.isDead && named.contains($0.key) }
    }

    // MARK: What watchers are shown

    /// When a change may be shown: the first four after a quiet time at once, later ones at most once per interval.
    func mayShow(every interval: Duration) -> Instant { newsPace.next(every: interval) }

    /// Returns the presence to show to watchers now; `nil` if they have seen it.
    ///
    /// - Parameter interval: how often changes are shown.
    func news(at now: Instant, every interval: Duration) -> Presence? {
        guard phase == .live || shown != nil, let presence else { return nil }
        defer { hasShown = .known }
        guard let shown, presence.looksDifferent(from: shown) else { return nil }
        newsPace.passed(at: now, every: interval)
        return presence
    }

    /// Makes the known presence, if any, the one that is shown to sessions that have seen nothing yet.
    ///
    /// - Returns: the sessions that waited for it.
    func snapshotKnown() -> Set<Session> {
        guard phase == .live else { return [] }
        if case .nothing = hasShown, presence != nil { hasShown = .known }
        guard !newcomers.isEmpty else { return [] }
        defer { newcomers = [] }
        return newcomers
    }
}

extension Watch.Reading {
    fileprivate init(of record: PresenceRecord, past dead: [Incarnation: WorkerStanding]) {
        self.init(
            known: .init(presence: record.presence(past: dead), version: record.version, isStored: record.isStored),
            masked: Set(dead.keys))
    }
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

// MARK: Watchers

// The sessions that watch a user, with the number of their reasons: the client asked, and each conversation shared with
// the user.

/// Sessions, each with its number of reasons to watch. Nearly all sessions have one reason, which needs no extra
/// memory.
struct Watchers {
    private var all = IndexedSet<Session>()
    /// The number of additional reasons, for sessions with more than one.
    private var further: [Session: Int] = [:]

    var isEmpty: Bool { all.isEmpty }
    var sessions: [Session] { all.elements }

    func contains(_ session: Session) -> Bool { all.contains(session) }

    /// Adds a reason for a session.
    ///
    /// - Returns: whether it is the session's first.
    @discardableResult
    mutating func insert(_ session: Session) -> Bool {
        if all.insert(session) { return true }
        further[session, default: 0] += 1
        return false
    }

    /// Removes a reason of a session.
    ///
    /// - Returns: whether it was the last; false if the session had none.
    mutating func remove(_ session: Session) -> Bool {
        guard let more = further[session] else { return all.remove(session) }
        further[session] = more == 1 ? nil : more - 1
        return false
    }
}
