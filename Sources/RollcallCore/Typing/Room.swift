// A conversation on one shard: its joined sessions, its typists, and what the sessions were last sent.

internal import RollcallModel

/// A conversation that sessions of this shard have joined.
public struct Room {
    enum Phase: Hashable, Sendable {
        /// Waiting for these channels to be confirmed.
        case subscribing(missing: Set<Topic>)
        /// Subscribed; the first snapshot is being read.
        case reading
        case live
    }

    let conversation: ConversationID
    var phase: Phase
    /// Whether a read failed since the last complete set of reads: some user's membership may be outdated.
    var isIncomplete = false
    var sessions = IndexedSet<SessionKey>()
    var pendingJoins = PendingJoins()
    /// Sessions that also watch the members.
    var presenceSessions = IndexedSet<SessionKey>()
    var members = MemberSet()
    /// Whether the conversation had a member list when it was last read.
    var isManaged = false
    /// The members last sent to these sessions, and when; the sessions watch the users it names. `nil` before the
    /// first.
    var toldMembers: ServerMessage.Members?
    var lastToldMembers: Instant?
    var typists: TypistSet
    /// The typists last sent to the joined sessions, and when.
    var told: [Typist] = []
    var lastTold: Instant?
    /// When `told` was last sent to every session for which it is not empty. Sessions whose view did not change get no
    /// message, such as those of the user who started to type.
    var lastToldAll: Instant?
    /// The Redis time of the oldest published change that was not sent yet.
    private var changedAt: Timestamp?

    init(conversation: ConversationID, settings: ShardSettings.Typing = .init()) {
        self.conversation = conversation
        typists = TypistSet(pace: settings.coalesce)
        phase = .subscribing(missing: [.typing(conversation), .members(conversation)])
    }

    var topics: [Topic] { [.typing(conversation), .members(conversation)] }
    var isDeserted: Bool { sessions.isEmpty && pendingJoins.isEmpty }

    /// Applies a published change.
    mutating func changed(_ change: TypingChange, clock: RedisClock, at now: Instant) {
        typists.changed(change, clock: clock, at: now)
        changedAt = changedAt ?? change.at
    }

    /// Handles that all published changes were sent, or made no difference to any session.
    ///
    /// - Returns: the time of the oldest of them; `nil` if nothing was published.
    mutating func changeTold() -> Timestamp? {
        defer { changedAt = nil }
        return changedAt
    }

    var shownMembers: [UserID] { toldMembers?.users.map(\.user) ?? [] }

    /// When the current typists are sent again without a change. The repeat lets clients treat silence as the end of
    /// typing.
    func nextRepeat(after expiry: Duration) -> Instant? {
        told.isEmpty ? nil : lastToldAll.map { $0 + expiry }
    }

    /// When a change may be sent: at once or, in a room where many type, once ``ShardSettings/Typing/coalesce`` has
    /// passed since the last message.
    func mayTell(at now: Instant, settings: ShardSettings.Typing) -> Instant {
        guard max(typists.entries.count, told.count) > settings.names, let lastTold else { return now }
        return max(now, lastTold + settings.coalesce)
    }

    /// When a change of the members may be sent: at once or, if there are many, once ``ShardSettings/Typing/coalesce``
    /// has passed since the last message.
    func mayTellMembers(at now: Instant, settings: ShardSettings.Typing) -> Instant {
        guard let lastToldMembers, members.names?.count ?? 0 > settings.names else { return now }
        return max(now, lastToldMembers + settings.coalesce)
    }
}

extension Room: Named {
    var name: ConversationID { conversation }
}

extension ServerMessage {
    /// The `typing` message for a receiver: all typists except the receiver's own user, with at most `names` of them
    /// named.
    static func typing(in conversation: ConversationID, of typists: [Typist], but user: UserID?, names: Int) -> Self {
        let others = user == nil ? typists : typists.filter { $0.user != user }
        let named = others.count > names ? Array(others.prefix(names)) : others
        return .typing(Typing(conversation: conversation, users: named, count: others.count))
    }
}
