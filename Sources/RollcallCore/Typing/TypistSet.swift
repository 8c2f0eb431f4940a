// The typists of a conversation as an observer knows them, from snapshots, changes and expiry.

public import RollcallModel

/// The users who are typing, in the order in which they became known, each until their expiry.
public struct TypistSet: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var typist: Typist
        var expires: Instant
        /// The Redis time of this information. Older information is ignored.
        var at: Timestamp
    }

    private(set) var entries: [Entry] = []
    /// The Redis times of stops received while a snapshot is being read. The snapshot may be older than they are.
    private var stopped: [UserID: Timestamp] = [:]
    private var readsUnderWay = 0

    public init() {}

    public var typists: [Typist] { entries.map(\.typist) }
    public var isEmpty: Bool { entries.isEmpty }
    public var isReading: Bool { readsUnderWay > 0 }

    /// The number of typists whose expiry has not passed.
    func count(at now: Instant) -> Int { entries.count { $0.expires > now } }

    /// When the next typist expires.
    public var nextExpiry: Instant? { entries.map(\.expires).min() }

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
                Typist(user: typist.user, name: typist.name),
                expires: min(clock.instant(of: typist.expiry), now + typist.expiry.since(snapshot.time)),
                at: snapshot.time, isSnapshot: true)
        }
        readEnded()
    }

    /// Applies a published change. Typing lasts at most its `expiresIn` from now, even if Redis's clock was set forward
    /// and `clock` is still behind.
    public mutating func changed(_ change: TypingChange, clock: RedisClock, at now: Instant) {
        if change.typing, let expiresIn = change.expiresIn {
            let end = min(
                clock.instant(of: change.at.advanced(by: .milliseconds(expiresIn))), now + .milliseconds(expiresIn))
            set(Typist(user: change.user, name: change.name), expires: end, at: change.at, isSnapshot: false)
        } else {
            if isReading { stopped[change.user] = change.at }
            entries.removeAll { $0.typist.user == change.user && $0.at <= change.at }
        }
    }

    /// Applies a member's new name.
    public mutating func renamed(_ user: UserID, to name: String?) {
        for index in entries.indices where entries[index].typist.user == user {
            entries[index].typist.name = name
        }
    }

    public mutating func removed(_ user: UserID) {
        entries.removeAll { $0.typist.user == user }
    }

    /// Removes typists whose expiry has passed.
    public mutating func expired(at now: Instant) {
        entries.removeAll { $0.expires <= now }
    }

    /// Ends a read. Stops are remembered until the last read has ended: a read that started after the stop may still
    /// return an older state.
    private mutating func readEnded() {
        readsUnderWay -= 1
        if readsUnderWay == 0 { stopped = [:] }
    }

    /// Sets a typist. A change with the same millisecond as a snapshot may have followed it, so the change counts. If
    /// it preceded the snapshot, both say the same.
    private mutating func set(_ typist: Typist, expires: Instant, at: Timestamp, isSnapshot: Bool) {
        guard let index = entries.firstIndex(where: { $0.typist.user == typist.user }) else {
            entries.append(Entry(typist: typist, expires: expires, at: at))
            return
        }
        let known = entries[index].at
        guard isSnapshot ? at > known : at >= known else { return }
        entries[index] = Entry(typist: typist, expires: expires, at: at)
    }
}
