// A conversation as one shard follows it: who has joined, who types, and what the joined were last told.

internal import RollcallModel

/// A conversation that sessions of this shard have joined.
public struct Room: Sendable {
    enum Phase: Hashable, Sendable {
        /// Waiting for these channels to be confirmed.
        case subscribing(missing: Set<Topic>)
        /// Subscribed; the first snapshot is being read.
        case reading
        case live
    }

    let conversation: ConversationID
    var phase: Phase
    /// Whether a read failed since all was last asked for: somebody's membership may have been missed.
    var isIncomplete = false
    var sessions = Roster<Session>()
    var lobby = Lobby()
    /// Sessions that watch the members too.
    var presenceSessions = Roster<Session>()
    var members = MemberSet()
    /// What these were last told of the members, and when; they watch whom it names. `nil` before there were any.
    var toldMembers: ServerMessage.Members?
    var lastToldMembers: Instant?
    var typists = TypistSet()
    /// What the joined were last told, and when.
    var told: [Typist] = []
    var lastTold: Instant?
    /// When all for whom that is not empty were last told it. A change looks the same as before to the one whom it is
    /// about.
    var lastToldAll: Instant?
    /// The moment of the oldest change that was published and not told yet, by Redis time.
    private var changedAt: Timestamp?

    init(conversation: ConversationID) {
        self.conversation = conversation
        phase = .subscribing(missing: [.typing(conversation), .members(conversation)])
    }

    var topics: [Topic] { [.typing(conversation), .members(conversation)] }
    var isDeserted: Bool { sessions.isEmpty && lobby.isEmpty }

    /// A change was published.
    mutating func changed(_ change: TypingChange, clock: RedisClock, at now: Instant) {
        typists.changed(change, clock: clock, at: now)
        changedAt = changedAt ?? change.at
    }

    /// What was published so far has been told, or has changed nothing for anybody.
    ///
    /// - Returns: the moment of the oldest change among it; `nil` if nothing was published.
    mutating func changeTold() -> Timestamp? {
        defer { changedAt = nil }
        return changedAt
    }

    var shownMembers: [UserID] { toldMembers?.users.map(\.user) ?? [] }

    /// When the present set is to be told again although nothing changed, so that observers may distrust silence.
    func nextRepeat(after expiry: Duration) -> Instant? {
        told.isEmpty ? nil : lastToldAll.map { $0 + expiry }
    }

    /// When a change may be told: at once, or in a room where many type, once the last message is old enough.
    func mayTell(at now: Instant, settings: ShardSettings.Typing) -> Instant {
        guard max(typists.entries.count, told.count) > settings.names, let lastTold else { return now }
        return max(now, lastTold + settings.coalesce)
    }

    /// When a change of the members may be told: at once, or if they are many, once the last message is old enough.
    func mayTellMembers(at now: Instant, settings: ShardSettings.Typing) -> Instant {
        guard let lastToldMembers, members.names?.count ?? 0 > settings.names else { return now }
        return max(now, lastToldMembers + settings.coalesce)
    }
}

extension ServerMessage {
    /// The `typing` message for a receiver: everybody but the receiver's user, at most `names` of them named.
    static func typing(in conversation: ConversationID, of typists: [Typist], but user: UserID?, names: Int) -> Self {
        let others = user == nil ? typists : typists.filter { $0.user != user }
        let named = others.count > names ? Array(others.prefix(names)) : others
        return .typing(Typing(conversation: conversation, users: named, count: others.count))
    }
}
