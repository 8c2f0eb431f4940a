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

    let user: UserID
    var phase = Phase.subscribing
    /// Watching sessions, each with its number of reasons: its own wish, and conversations joined with presence.
    var watchers: [SessionKey: Int] = [:]
    /// Sessions that have not been shown anything yet.
    var newcomers: [SessionKey] = []
    /// `watch` messages to acknowledge when the snapshot is out, by their number in the shard.
    var acks: [Int] = []
    private(set) var presence: Presence?
    private(set) var shown: Presence?

    init(user: UserID) {
        self.user = user
    }

    /// A change was published: it counts if it is newer.
    mutating func changed(_ change: Presence) {
        if let presence, change.version <= presence.version { return }
        presence = change
    }

    /// The record was read, past dead workers. At the same version a read says more than a change, which counts the
    /// devices of the dead.
    ///
    /// - Parameter isAuthoritative: whether the read counts whatever its version, since Redis may have gone back.
    mutating func read(_ read: Presence, isAuthoritative: Bool) {
        phase = .live
        if !isAuthoritative, let presence, read.version < presence.version { return }
        presence = read
    }

    /// What the watchers should be shown now; `nil` if they have seen it.
    mutating func news() -> Presence? {
        guard phase == .live, let presence else { return nil }
        defer { shown = presence }
        guard let shown else { return nil }
        return presence.looksDifferent(from: shown) ? presence : nil
    }

    mutating func snapshotShown() {
        shown = presence
    }
}
