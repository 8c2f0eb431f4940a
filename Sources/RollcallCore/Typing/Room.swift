// A conversation on one shard: its joined sessions, its typists and members, and what the sessions were last sent.

internal import RollcallProtocol

/// A conversation that sessions of this shard have joined.
final class Room: Numbered {
    enum Phase: Hashable, Sendable {
        /// Waiting for these channels to be confirmed.
        case subscribing(missing: Set<Topic>)
        /// Subscribed; the first snapshot is being read.
        case reading
        case live
    }

    let conversation: ConversationID
    let number: Int32
    private(set) var isOver = false
    private(set) var phase: Phase
    /// Whether a read failed since the last complete set of reads: some user's membership may be outdated.
    private var isIncomplete = false
    /// Whether the conversation had a member list when it was last read.
    private(set) var isManaged = false

    /// Sessions that have joined.
    private(set) var sessions = IndexedSet<Session>()
    var pendingJoins = PendingJoins()
    /// Sessions that also watch the members.
    private(set) var presenceSessions = IndexedSet<Session>()

    private(set) var members = MemberSet()
    /// The members last sent to these sessions, and when; the sessions watch the users it names. `nil` before the
    /// first.
    private(set) var toldMembers: ServerMessage.Members?
    private var lastToldMembers: Instant?

    var typists: TypistSet
    /// The typists last sent to the joined sessions, and when.
    private(set) var told: [Typist] = []
    private var lastTold: Instant?
    /// When `told` was last sent to every session for which it is not empty. Sessions whose view did not change get no
    /// message, such as those of the user who started to type.
    private var lastToldAll: Instant?
    /// The Redis time of the oldest published change that was not sent yet.
    private var changedAt: Timestamp?

    init(conversation: ConversationID, number: Int32, settings: ShardSettings.Typing = .init()) {
        self.conversation = conversation
        self.number = number
        typists = TypistSet(pace: settings.coalesce)
        phase = .subscribing(missing: [.typing(conversation), .members(conversation)])
    }

    var topics: [Topic] { [.typing(conversation), .members(conversation)] }
    var isDeserted: Bool { sessions.isEmpty && pendingJoins.isEmpty }

    func joined(_ session: Session) { sessions.insert(session) }

    func left(_ session: Session) {
        sessions.remove(session)
        pendingJoins.remove(session)
    }

    /// - Returns: whether the session watched the members until now.
    func unwatchesMembers(_ session: Session) -> Bool { presenceSessions.remove(session) }

    /// The last session has left: replies that are still to come change nothing.
    func ended() {
        assert(isDeserted && !isOver, "a room ends once, without sessions")
        isOver = true
    }

    // MARK: Channels

    /// Changes may be missed until the channel is confirmed.
    func channelLost(_ topic: Topic) {
        var missing: Set<Topic> = [topic]
        if case .subscribing(let others) = phase { missing.formUnion(others) }
        phase = .subscribing(missing: missing)
    }

    /// - Returns: whether all channels are confirmed now, so that a read misses nothing.
    func channelConfirmed(_ topic: Topic) -> Bool {
        guard case .subscribing(var missing) = phase else { return false }
        missing.remove(topic)
        phase = missing.isEmpty ? .reading : .subscribing(missing: missing)
        return missing.isEmpty
    }

    /// Whether a read finds all changes.
    var mayRead: Bool { phase == .reading || phase == .live }

    // MARK: Reads

    /// Whether the typists and the memberships have to be read again, and no read is in flight.
    var lacksRead: Bool { (phase == .reading || isIncomplete) && !typists.isReading }

    /// Returns the read of everything: the typists, and the membership of each user who has joined or waits to join.
    ///
    /// - Parameter users: the users of the joined sessions.
    func wholeRead(joined users: [UserID], mostMembers: Int) -> RoomRead {
        isIncomplete = false
        let wantsMembers = !presenceSessions.isEmpty || pendingJoins.wantsMembers
        if !wantsMembers { members.forget() }
        return RoomRead(
            conversation: conversation, users: Set(users).union(pendingJoins.users).sorted(), withTyping: true,
            mostMembers: wantsMembers ? mostMembers : 0)
    }

    func began(_ read: RoomRead) {
        if read.withTyping { typists.readBegan() }
        if read.mostMembers > 0 { members.readBegan() }
    }

    func failed(_ read: RoomRead) {
        if read.withTyping { typists.readFailed() }
        if read.mostMembers > 0 { members.readFailed() }
        isIncomplete = true
        if phase == .live { phase = .reading }
        for waiting in read.users.flatMap(pendingJoins.of) { pendingJoins.readAgain(waiting.session) }
    }

    func ended(_ read: RoomRead, with snapshot: RoomSnapshot, mostMembers: Int, clock: RedisClock, at now: Instant) {
        if read.withTyping {
            typists.snapshotRead(snapshot, clock: clock, at: now)
            // A read from before the channels were lost does not make the room live: another follows their
            // confirmation.
            if phase == .reading { phase = .live }
        }
        if read.mostMembers > 0 {
            members.snapshotRead(snapshot.members ?? [:], count: snapshot.memberCount, most: mostMembers)
        }
        isManaged = snapshot.isManaged
    }

    // MARK: Published changes

    func changed(_ change: TypingChange, clock: RedisClock, at now: Instant) {
        typists.changed(change, clock: clock, at: now)
        changedAt = changedAt ?? change.at
    }

    /// Handles a member who was added, renamed or, without a name, removed.
    func memberChanged(_ user: UserID, to name: ByteString?, count: Int?) {
        if let name { typists.renamed(user, to: name) } else { typists.removed(user) }
        members.changed(user, to: name, count: count)
    }

    // MARK: What sessions were sent

    /// Handles that all published changes were sent, or made no difference to any session.
    ///
    /// - Returns: the time of the oldest of them; `nil` if nothing was published.
    func changeTold() -> Timestamp? {
        defer { changedAt = nil }
        return changedAt
    }

    /// Notes what the sessions have been sent.
    ///
    /// - Parameter toAll: whether it was sent to every session, so that no session relies on an earlier message that
    ///   must be repeated sooner.
    func told(_ typists: [Typist], toAll: Bool, at now: Instant) {
        (told, lastTold) = (typists, now)
        if toAll { lastToldAll = now }
    }

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

    /// The members as a message; `nil` until they are known.
    var membersMessage: ServerMessage.Members? {
        members.names.map { names in
            ServerMessage.Members(
                conversation: conversation, users: names.keys.sorted().map { .init(user: $0, name: names[$0]) },
                count: members.count)
        }
    }

    var shownMembers: [UserID] { toldMembers?.users.map(\.user) ?? [] }

    /// Adds a session to those that follow the members, which are known.
    ///
    /// - Returns: false if it followed them before.
    func showsMembers(to session: Session) -> Bool {
        if presenceSessions.isEmpty { toldMembers = membersMessage }
        return presenceSessions.insert(session)
    }

    func told(_ members: ServerMessage.Members, at now: Instant) {
        (toldMembers, lastToldMembers) = (members, now)
    }

    /// When a change of the members may be sent: at once or, if there are many, once ``ShardSettings/Typing/coalesce``
    /// has passed since the last message.
    func mayTellMembers(at now: Instant, settings: ShardSettings.Typing) -> Instant {
        guard let lastToldMembers, members.names?.count ?? 0 > settings.names else { return now }
        return max(now, lastToldMembers + settings.coalesce)
    }
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
