// The typists of a conversation as an observer knows them, from snapshots, changes and expiry.

public import RollcallProtocol

/// The users who are typing, in the order in which they became known, each until their expiry.
///
/// Each user has a pace, so that nobody's devices can flood a room by starting and stopping again and again: four changes
/// pass at once, and one more per interval. Only a start and another kind ever wait, and only for
/// changes of the same user.
public struct TypistSet: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var typist: Typist
        var expires: Instant
        /// The Redis time of this information. Older information is ignored.
        var at: Timestamp
        /// When the typist is shown; `nil` once that has happened.
        var appears: Instant?
    }

    private(set) var entries: [Entry] = []
    /// The Redis times of stops received while a snapshot is being read. The snapshot may be older than they are.
    private var stopped: [UserID: Timestamp] = [:]
    private var readsUnderWay = 0
    private let pace: Duration
    /// The paces of users who started or stopped recently.
    private var paces: [UserID: ChangePace] = [:]
    /// The number of paces above which rested ones are dropped.
    private var crowded = 16

    /// - Parameter pace: how long after four changes of a user another start is shown.
    public init(pace: Duration = ShardSettings().typing.coalesce) {
        self.pace = pace
    }

    /// The typists to show.
    public var typists: [Typist] { entries.lazy.filter { $0.appears == nil }.map(\.typist) }
    public var isEmpty: Bool { entries.isEmpty }
    public var isReading: Bool { readsUnderWay > 0 }

    /// The number of typists whose expiry has not passed.
    func count(at now: Instant) -> Int { entries.count { $0.expires > now } }

    /// When the next typist expires or appears.
    public var nextChange: Instant? { entries.map { min($0.expires, $0.appears ?? $0.expires) }.min() }

    /// Starts reading a snapshot. Changes received until it arrives may be newer than it.
    public mutating func readBegan() {
        readsUnderWay += 1
    }

    /// Ends a read that failed.
    public mutating func readFailed() {
        readEnded()
    }

    /// Applies a snapshot. Users who changed after it was read keep the state of that change.
    public mutating func snapshotRead(_ snapshot: RoomSnapshot, clock: RedisClock, at now: Instant) {
        let snapshotTypists = Set(snapshot.typists.map(\.user))
        entries.removeAll { $0.at < snapshot.time && !snapshotTypists.contains($0.typist.user) }
        for typist in snapshot.typists {
            if let stop = stopped[typist.user], stop >= snapshot.time { continue }
            set(
                Typist(user: typist.user, name: typist.name?.string, kind: typist.kind),
                expires: min(clock.instant(of: typist.expiry), now + typist.expiry.since(snapshot.time)),
                at: snapshot.time, isSnapshot: true, now: now)
        }
        readEnded()
    }

    /// Applies a published change. Typing lasts at most its `expiresIn` from now, even if Redis's clock was set forward
    /// and `clock` is still behind.
    public mutating func changed(_ change: TypingChange, clock: RedisClock, at now: Instant) {
        if change.typing, let expiresIn = change.expiresIn {
            let end = min(
                clock.instant(of: change.at.advanced(by: .milliseconds(expiresIn))), now + .milliseconds(expiresIn))
            set(
                Typist(user: change.user, name: change.name?.string, kind: change.kind), expires: end, at: change.at,
                isSnapshot: false, now: now)
        } else {
            if isReading { stopped[change.user] = change.at }
            guard let index = entries.firstIndex(where: { $0.typist.user == change.user && $0.at <= change.at }) else {
                return
            }
            if entries.remove(at: index).appears == nil { passed(change.user, at: now) }
        }
    }

    private mutating func passed(_ user: UserID, at now: Instant) {
        paces[user, default: ChangePace()].passed(at: now, every: pace)
        guard paces.count > crowded else { return }
        paces = paces.filter { !$0.value.isRested(at: now) }
        crowded = max(16, paces.count * 2)
    }

    /// Applies a member's new name.
    public mutating func renamed(_ user: UserID, to name: ByteString?) {
        for index in entries.indices where entries[index].typist.user == user {
            entries[index].typist.name = name?.string
        }
    }

    public mutating func removed(_ user: UserID) {
        entries.removeAll { $0.typist.user == user }
    }

    /// Removes typists whose expiry has passed, and shows those whose moment has come.
    public mutating func timePassed(at now: Instant) {
        entries.removeAll { $0.expires <= now }
        for index in entries.indices where entries[index].appears.map({ $0 <= now }) == true { show(index, at: now) }
    }

    private mutating func show(_ index: Int, at now: Instant) {
        entries[index].appears = nil
        passed(entries[index].typist.user, at: now)
    }

    /// Ends a read. Stops are remembered until the last read has ended: a read that started after the stop may still
    /// return an older state.
    private mutating func readEnded() {
        readsUnderWay -= 1
        if readsUnderWay == 0 { stopped = [:] }
    }

    /// Sets a typist. A change with the same millisecond as a snapshot may have followed it, so the change counts. If
    /// it preceded the snapshot, both say the same.
    private mutating func set(
        _ typist: Typist, expires: Instant, at: Timestamp, isSnapshot: Bool, now: Instant
    ) {
        guard let index = entries.firstIndex(where: { $0.typist.user == typist.user }) else {
            let appears = paces[typist.user]?.next(every: pace) ?? now
            entries.append(Entry(typist: typist, expires: expires, at: at, appears: appears))
            if appears <= now { show(entries.count - 1, at: now) }
            return
        }
        let known = entries[index].at
        guard isSnapshot ? at > known : at >= known else { return }
        var typist = typist
        // Another kind is a change like a start. One that comes too soon is shown with the next renewal.
        let (user, shown) = (typist.user, entries[index].typist.kind)
        if typist.kind != shown, entries[index].appears == nil {
            if (paces[user]?.next(every: pace) ?? now) <= now { passed(user, at: now) } else { typist.kind = shown }
        }
        entries[index] = Entry(typist: typist, expires: expires, at: at, appears: entries[index].appears)
    }
}
