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

    let user: UserID
    var phase = Phase.subscribing
    /// Whether the next read counts whatever its version.
    var nextReadIsAuthoritative = false
    /// Watching sessions, each with its number of reasons: its own wish, and conversations joined with presence.
    var watchers: [SessionKey: Int] = [:]
    /// Sessions that watch from before anything is known.
    var newcomers: Set<SessionKey> = []
    /// After which heartbeat a read first found no record where there had been one; `nil` if the last found it.
    var missingSince: Int?
    private var readsUnderWay = 0
    /// Whether a change came while a read was under way, which may be older.
    private(set) var heardMeanwhile = false
    private(set) var presence: Presence?
    /// The dead whose devices did not count in the last reading. In what is published they do, until they are swept.
    private(set) var masked: Set<Incarnation> = []
    private(set) var shown: Presence?

    init(user: UserID) {
        self.user = user
    }

    /// A change was published: it counts if it is newer.
    mutating func changed(_ change: Presence) {
        heard()
        if let presence, change.version <= presence.version { return }
        presence = change
    }

    /// Something was published: reads under way may be older.
    mutating func heard() {
        heardMeanwhile = heardMeanwhile || readsUnderWay > 0
    }

    mutating func readBegan() {
        readsUnderWay += 1
    }

    /// A read was answered, or failed. It may be of a former watch of the same user.
    mutating func readEnded() {
        readsUnderWay = max(0, readsUnderWay - 1)
        if readsUnderWay == 0 { heardMeanwhile = false }
    }

    /// The record was read, and this is what it means.
    mutating func read(_ reading: Reading) {
        phase = .live
        presence = reading.presence
        masked = reading.masked
    }

    /// Somebody was answered this, whatever state the watch is in.
    mutating func got(_ reading: Reading) {
        guard presence != nil else { return }
        presence = reading.presence
        masked = reading.masked
    }

    /// What the watchers should be shown now; `nil` if they have seen it.
    mutating func news() -> Presence? {
        guard phase == .live || shown != nil, let presence else { return nil }
        defer { shown = presence }
        guard let shown else { return nil }
        return presence.looksDifferent(from: shown) ? presence : nil
    }

    /// Something is known by now, and is what is shown to whoever has seen nothing yet.
    ///
    /// - Returns: those who waited for it.
    mutating func snapshotKnown() -> Set<SessionKey> {
        shown = shown ?? presence
        defer { newcomers = [] }
        return newcomers
    }
}
