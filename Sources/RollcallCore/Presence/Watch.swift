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
    /// The conversations that share the user with a watcher.
    private var sharing = Watchers()
    /// Watchers to whom the user looks like one who was never seen, whoever it is.
    private var hidden = IndexedSet<Session>()
    /// Watchers who see no times; `nil` if there are none.
    private var timeless: Timeless?
    private let persons: Persons
    /// Sessions that wait for the read under way, or for the next: they started to watch before anything was known, or would be
    /// shown that the user was never seen.
    private var newcomers: Set<Session> = []

    private(set) var phase = Phase.subscribing
    /// Whether the next read is authoritative: it counts regardless of its version.
    private var nextReadIsAuthoritative = false
    /// Whether a change arrived during a read, which may be older than the change.
    private var changedMeanwhile = false
    private var readsUnderWay: Int32 = 0
    /// Whether an authoritative read starts once no other is in flight.
    private var awaitsReads = false

    private(set) var known: VisiblePresence? {
        willSet {
            if case .known = hasShown, let known, known.presence != newValue?.presence {
                hasShown = .former(known.presence)
            }
        }
    }
    private var hasShown = Shown.nothing
    /// When changes are shown.
    private var newsPace = ChangePace()

    init(user: UserID, number: Int32, _ persons: Persons) {
        (self.user, self.number, self.persons) = (user, number, persons)
    }

    /// What watchers who see no times were shown last, and when they are shown changes: what only others see moves neither.
    private final class Timeless {
        var watchers = IndexedSet<Session>()
        var shown: Presence?
        var pace = ChangePace()

        init(_ shown: Presence?) { self.shown = shown }
    }

    /// What watchers were last shown.
    private var shown: Presence? {
        switch hasShown {
        case .nothing: nil
        case .known: known?.presence
        case .former(let presence): presence
        }
    }

    /// How much a session sees of the user.
    func view(of session: Session) -> View {
        persons.view(of: user, for: session, shares: sharing.contains(session), lastSeen: shown?.lastSeen)
    }

    /// What a watcher was last shown.
    func shown(to watcher: Session) -> ShownPresence? {
        if let timeless, timeless.watchers.contains(watcher) { return timeless.shown?.shown(in: .timeless) }
        return shown?.shown(in: hidden.contains(watcher) ? .hidden : .whole)
    }

    /// Whether what a watcher is to be shown is known.
    func isKnown(to watcher: Session) -> Bool { shown != nil && !newcomers.contains(watcher) }

    /// Whether any watcher sees no times.
    var hasTimeless: Bool { timeless != nil }

    /// What watchers who see the whole were last shown.
    var shownLook: Presence.Look? { shown?.look }

    // MARK: Watchers

    /// Watchers who see the whole.
    var seeing: [Session] {
        guard !hidden.isEmpty || timeless != nil else { return watchers.sessions }
        return watchers.sessions.filter { !hidden.contains($0) && timeless?.watchers.contains($0) != true }
    }

    /// Adds one reason for a session to watch.
    ///
    /// - Parameter isShared: whether the reason is a conversation that shares the user with it.
    /// - Returns: whether a new read must begin, with a channel that is confirmed anew. A session that would be shown that the user
    ///   was never seen waits for one that begins after it came, as it would if it were the first: how long it waits says
    ///   nothing of the user, nor of who else watches.
    func gained(_ watcher: Session, isShared: Bool) -> Bool {
        assert(!isOver, "nobody begins to watch with a watch that has ended")
        let isFirst = watchers.insert(watcher)
        if isShared { sharing.insert(watcher) }
        judge(watcher, isNew: isFirst)
        guard let shown = shown(to: watcher) else {
            newcomers.insert(watcher)
            return false
        }
        guard isFirst, shown.isNeverSeen else { return false }
        newcomers.insert(watcher)
        guard phase == .live else { return false }
        channelLost()
        return true
    }

    /// Removes one reason for a session to watch.
    ///
    /// - Returns: whether that was its last reason; false if it had none.
    func lost(_ watcher: Session, isShared: Bool) -> Bool {
        if isShared { _ = sharing.remove(watcher) }
        guard watchers.remove(watcher) else {
            judge(watcher)
            return false
        }
        newcomers.remove(watcher)
        put(watcher, in: .whole)
        return true
    }

    /// A conversation of a watcher shares the user with it from now on, or no longer.
    func shares(_ isShared: Bool, with watcher: Session) {
        if isShared { sharing.insert(watcher) } else { _ = sharing.remove(watcher) }
        judge(watcher)
    }

    /// Decides anew how much a watcher sees. While what the user has decided is not known, nobody sees more or less of them, but
    /// for who may not ask any longer.
    func judge(_ watcher: Session, isNew: Bool = false) {
        guard watchers.contains(watcher) else { return }
        if !isNew, persons.isUnknown(user), sharing.contains(watcher) || watcher.watchRight.covers(user) { return }
        put(watcher, in: view(of: watcher))
    }

    private func put(_ watcher: Session, in view: View) {
        if view != .hidden { hidden.remove(watcher) }
        if view != .timeless, let timeless, timeless.watchers.remove(watcher), timeless.watchers.isEmpty {
            self.timeless = nil
        }
        switch view {
        case .whole: break
        case .hidden: hidden.insert(watcher)
        case .timeless:
            let group = timeless ?? Timeless(shown)
            timeless = group
            group.watchers.insert(watcher)
        }
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
        changeArrived()
        let isMasked = known?.isMasked == true
        guard !redis.judgement.mayCountDead(isMasked: isMasked) || change.presence.status == .offline else {
            return false
        }
        if known.map({ $0.isOlder(than: change, at: redis.time(at: now)) }) ?? true {
            know(VisiblePresence(change, after: known))
        }
        return true
    }

    /// Notes that something was published: reads in flight may be older.
    func changeArrived() {
        changedMeanwhile = changedMeanwhile || readsUnderWay > 0
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

    /// Ends a read that was answered or failed.
    ///
    /// - Returns: whether a read that waited for this one may start.
    private func readEnded() -> Bool {
        assert(readsUnderWay > 0, "a read that ends has begun")
        readsUnderWay -= 1
        guard readsUnderWay == 0 else { return false }
        changedMeanwhile = false
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
        _ record: PresenceRecord, _ standings: [Incarnation: WorkerStanding], isAuthoritative: Bool,
        _ judgement: Judgement
    ) -> (isNews: Bool, next: NextRead) {
        guard phase != .subscribing else {
            if isAuthoritative { nextReadIsAuthoritative = true }
            return (false, readEnded() ? .now : .none)
        }
        var next = NextRead.none
        var counts = false
        if !record.isStored, known?.isStored == true, !isAuthoritative, !judgement.isSettling {
            // If Redis had lost all data, it would not know this worker's lease either. A record that is still missing after
            // the next heartbeat is gone.
            (nextReadIsAuthoritative, next) = (true, .withHeartbeat)
        } else if isAuthoritative, !judgement.isSettling {
            // Such a read ignores versions, and a change that came during it may be newer.
            counts = !changedMeanwhile
            if changedMeanwhile { (nextReadIsAuthoritative, next) = (true, .now) }
        }
        know(VisiblePresence(record, standings, judgement, unless: counts ? nil : known))
        phase = .live
        if readEnded() { next = .now }
        return (shown != nil && shown != known?.presence, next)
    }

    /// Takes what answered a session's `get`, in any phase.
    func got(_ reading: VisiblePresence) {
        if known != nil { know(reading) }
    }

    /// What the user says of themselves is known, or ends.
    func wordsChanged() {
        if let known { know(known) }
    }

    private func know(_ new: VisiblePresence) {
        var new = new
        new.say(persons.words(of: user))
        known = new
    }

    // MARK: What watchers are shown

    /// When a change may be shown: the first four after a quiet time at once, later ones at most once per interval.
    func mayShow(every interval: Duration) -> Instant { newsPace.next(every: interval) }

    /// Returns the presence to show to watchers now; `nil` if they have seen it.
    ///
    /// - Parameter interval: how often changes are shown.
    func news(at now: Instant, every interval: Duration) -> Presence? {
        guard phase == .live || shown != nil, let presence = known?.presence else { return nil }
        defer { hasShown = .known }
        guard let shown, presence.looksDifferent(from: shown) else { return nil }
        newsPace.passed(at: now, every: interval)
        return presence
    }

    /// Returns what watchers who see no times may be shown now, with what they have seen; `nil` if they have seen it, and `later`
    /// if it is not time yet.
    func timelessNews(
        at now: Instant, every interval: Duration
    ) -> (news: ShownPresence, seen: Presence.Look?, watchers: [Session], later: Instant?)? {
        guard let timeless, phase == .live || shown != nil, let presence = known?.presence else { return nil }
        let (seen, news) = (timeless.shown?.shown(in: .timeless).look, presence.shown(in: .timeless))
        guard let seen, news.look != seen else {
            timeless.shown = presence
            return nil
        }
        let next = timeless.pace.next(every: interval)
        guard now >= next else { return (news, seen, [], next) }
        timeless.shown = presence
        timeless.pace.passed(at: now, every: interval)
        return (news, seen, timeless.watchers.elements, nil)
    }

    /// Makes the known presence, if any, the one that is shown to sessions that have seen nothing yet.
    ///
    /// - Returns: the sessions that waited for it.
    func snapshotKnown() -> Set<Session> {
        guard phase == .live else { return [] }
        if persons.isUnknown(user) {
            // That the user has just decided something must not make those wait longer who see nothing in any case.
            let told = newcomers.filter {
                persons.hides(user, from: $0, shares: sharing.contains($0), lastSeen: shown?.lastSeen)
            }
            guard !told.isEmpty else { return [] }
            for newcomer in told { put(newcomer, in: .hidden) }
            if case .nothing = hasShown, known != nil { hasShown = .known }
            newcomers.subtract(told)
            return told
        }
        if case .nothing = hasShown, known != nil { hasShown = .known }
        guard !newcomers.isEmpty else { return [] }
        for newcomer in newcomers { judge(newcomer) }
        if let timeless, timeless.shown == nil { timeless.shown = shown }
        defer { newcomers = [] }
        return newcomers
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
