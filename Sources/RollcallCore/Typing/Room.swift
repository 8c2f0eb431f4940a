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
    /// Users who are there because an app's server admitted them.
    var admissions: [UserID: Admission] = [:]
    /// When it was last heard that admissions were dropped, whosever.
    var lastDrop: Instant?
    /// The users whom it is asked about, and whether they were charged for it.
    var asked: [UserID: Bool] = [:]
    var typing: ShownTyping
    var members = ShownMembers()
    /// Who has it open; `nil` while nobody follows that.
    var here: ShownHere?

    init(conversation: ConversationID, number: Int32, settings: ShardSettings.Typing = .init()) {
        self.conversation = conversation
        self.number = number
        typing = ShownTyping(settings)
        phase = .subscribing(missing: [.typing(conversation), .members(conversation)])
    }

    var topics: [Topic] { [.typing(conversation), .members(conversation)] }
    var isDeserted: Bool { sessions.isEmpty && pendingJoins.isEmpty }

    func joined(_ session: Session) { sessions.insert(session) }

    func left(_ session: Session) {
        sessions.remove(session)
        pendingJoins.remove(session)
    }

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
    var lacksRead: Bool { (phase == .reading || isIncomplete) && !typing.typists.isReading }

    /// Returns the read of everything: the typists, and the membership of each user who has joined or waits to join.
    ///
    /// - Parameter users: the users of the joined sessions.
    func wholeRead(joined users: [UserID], mostMembers: Int) -> RoomRead {
        isIncomplete = false
        let wantsMembers = !members.followers.isEmpty || pendingJoins.wantsMembers
        if !wantsMembers { members.known.forget() }
        return RoomRead(
            conversation: conversation, users: Set(users).union(pendingJoins.users).sorted(), withTyping: true,
            mostMembers: wantsMembers ? mostMembers : 0)
    }

    func began(_ read: RoomRead) {
        if read.withTyping { typing.typists.readBegan() }
        if read.mostMembers > 0 { members.known.readBegan() }
    }

    func failed(_ read: RoomRead) {
        if read.withTyping { typing.typists.readFailed() }
        if read.mostMembers > 0 { members.known.readFailed() }
        isIncomplete = true
        if phase == .live { phase = .reading }
        for waiting in read.users.flatMap(pendingJoins.of) { pendingJoins.readAgain(waiting.session) }
    }

    func ended(_ read: RoomRead, with snapshot: RoomSnapshot, mostMembers: Int, clock: RedisClock, at now: Instant) {
        if read.withTyping {
            typing.typists.snapshotRead(snapshot, clock: clock, at: now)
            // A read from before the channels were lost does not make the room live: another follows their
            // confirmation.
            if phase == .reading { phase = .live }
        }
        if read.mostMembers > 0 {
            members.known.snapshotRead(snapshot.members ?? [:], count: snapshot.memberCount, most: mostMembers)
            members.people = snapshot.isManaged ? [] : snapshot.people
        }
        isManaged = snapshot.isManaged
    }

    /// Handles a member who was added, renamed or, without a name, removed.
    func memberChanged(_ user: UserID, to name: ByteString?, count: Int?) {
        if let name { typing.typists.renamed(user, to: name) } else { typing.typists.removed(user) }
        members.known.changed(user, to: name, count: count)
    }

    // MARK: What sessions were sent

    /// The typists that the sessions were sent, for one of this user; `nil` for a room that has closed.
    func typingMessage(for user: UserID?, names: Int) -> ServerMessage? {
        isOver ? nil : .typing(in: conversation, of: typing.told, but: user, names: names)
    }

    /// The members that the sessions were sent; `nil` for a room that has closed, or before the first.
    var membersShown: ServerMessage.Members? { isOver ? nil : members.shown }
}
