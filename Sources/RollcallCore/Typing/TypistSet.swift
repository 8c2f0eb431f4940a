// Who types in a conversation, as an observer learns it: from a snapshot, from changes, and from silence.

public import RollcallModel

/// The users who type, in the order in which they became known, each until their expiry.
public struct TypistSet: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var typist: Typist
        var expires: Instant
        /// By Redis time, when this was true: an older word changes nothing.
        var at: Timestamp
    }

    private(set) var entries: [Entry] = []
    /// When users who do not type were last heard of, while a snapshot is being read that may be older.
    private var stopped: [UserID: Timestamp] = [:]
    private var readsUnderWay = 0

    public init() {}

    public var typists: [Typist] { entries.map(\.typist) }
    public var isEmpty: Bool { entries.isEmpty }
    public var isReading: Bool { readsUnderWay > 0 }

    /// How many type, without those whose expiry has passed.
    func count(at now: Instant) -> Int { entries.count { $0.expires > now } }

    /// When the next typist expires.
    public var nextExpiry: Instant? { entries.map(\.expires).min() }

    /// A snapshot is about to be read: what is heard until it comes may be newer than it.
    public mutating func readBegan() {
        readsUnderWay += 1
    }

    /// A snapshot will not come.
    public mutating func readFailed() {
        readEnded()
    }

    /// A snapshot came. Users of whom a change was heard since it was read stay as that change left them.
    public mutating func snapshotRead(_ snapshot: RoomSnapshot, clock: RedisClock, at now: Instant) {
        let latest = Self.latest(by: clock, at: now)
        let snapshotTypists = Set(snapshot.typists.map(\.user))
        entries.removeAll {
            ($0.at < snapshot.time || $0.at > latest) && !snapshotTypists.contains($0.typist.user)
        }
        for typist in snapshot.typists {
            if let stop = stopped[typist.user], stop >= snapshot.time { continue }
            set(
                Typist(user: typist.user, name: typist.name),
                expires: min(clock.instant(of: typist.expiry), now + typist.expiry.since(snapshot.time)),
                at: snapshot.time, latest: latest, isSnapshot: true)
        }
        readEnded()
    }

    /// A change was published. It lasts no longer than it says from now on, even if Redis's clock was set forward and
    /// `clock` is still behind.
    public mutating func changed(_ change: TypingChange, clock: RedisClock, at now: Instant) {
        let latest = Self.latest(by: clock, at: now)
        if change.typing, let expiresIn = change.expiresIn {
            let end = min(
                clock.instant(of: change.at.advanced(by: .milliseconds(expiresIn))), now + .milliseconds(expiresIn))
            set(
                Typist(user: change.user, name: change.name), expires: end, at: change.at, latest: latest,
                isSnapshot: false)
        } else {
            if isReading { stopped[change.user] = change.at }
            entries.removeAll { $0.typist.user == change.user && ($0.at <= change.at || $0.at > latest) }
        }
    }

    /// The latest moment at which something can be true by now. What is known from later was published before Redis's
    /// clock was set back, and is older than anything that comes.
    private static func latest(by clock: RedisClock, at now: Instant) -> Timestamp {
        clock.time(at: now).advanced(by: LeaseKeeper.clockTolerance * 2)
    }

    /// A member's name changed.
    public mutating func renamed(_ user: UserID, to name: String?) {
        for index in entries.indices where entries[index].typist.user == user {
            entries[index].typist.name = name
        }
    }

    public mutating func removed(_ user: UserID) {
        entries.removeAll { $0.typist.user == user }
    }

    /// Time has passed: those whose typing was not renewed are out.
    public mutating func expired(at now: Instant) {
        entries.removeAll { $0.expires <= now }
    }

    /// A stop is remembered until the last read is over: one that began later may still be older than the stop.
    private mutating func readEnded() {
        readsUnderWay -= 1
        if readsUnderWay == 0 { stopped = [:] }
    }

    /// A change of the same millisecond as a snapshot may have come after it, and counts; had it come before, the
    /// snapshot says no more than it.
    private mutating func set(_ typist: Typist, expires: Instant, at: Timestamp, latest: Timestamp, isSnapshot: Bool) {
        guard let index = entries.firstIndex(where: { $0.typist.user == typist.user }) else {
            entries.append(Entry(typist: typist, expires: expires, at: at))
            return
        }
        let known = entries[index].at
        guard known > latest || (isSnapshot ? at > known : at >= known) else { return }
        entries[index] = Entry(typist: typist, expires: expires, at: at)
    }
}
