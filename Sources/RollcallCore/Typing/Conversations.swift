// Conversations: the rooms that sessions join, their channels and reads, and who may be in them.

internal import RollcallProtocol

/// Owns the rooms of a shard: the conversations that sessions have joined or are joining.
final class Conversations {
    private let loop: Loop
    private let outbound: Outbound
    private let table: SessionTable
    private let rooms: Directory<ConversationID, Room>
    private let budgets: UserBudgets
    private let typing: TypingSignals
    private let typingFanOut: TypingFanOut
    private let watches: Watches
    private let memberLists: MemberLists
    private let hereRecords: HereRecords
    private let hereLists: HereLists
    private let admissions: Admissions
    /// Rooms with a published change that this version cannot read.
    private var unclear: Set<Room> = []

    init(
        _ loop: Loop, _ outbound: Outbound, _ table: SessionTable, _ rooms: Directory<ConversationID, Room>,
        _ budgets: UserBudgets, _ typing: TypingSignals, _ typingFanOut: TypingFanOut, _ watches: Watches,
        _ memberLists: MemberLists, _ hereRecords: HereRecords, _ hereLists: HereLists, _ admissions: Admissions
    ) {
        (self.loop, self.outbound, self.table, self.rooms) = (loop, outbound, table, rooms)
        (self.budgets, self.typing, self.typingFanOut) = (budgets, typing, typingFanOut)
        (self.watches, self.memberLists) = (watches, memberLists)
        (self.hereRecords, self.hereLists, self.admissions) = (hereRecords, hereLists, admissions)
    }

    /// All rooms, by number.
    var all: [Room] { rooms.all }
    var count: Int { rooms.count }
    /// Rooms to read.
    var dueReadCount: Int { unclear.count }

    // MARK: Channels and the lease

    func channelsLost() {
        for room in rooms.all { room.topics.forEach(room.channelLost) }
    }

    func channelLost(_ topic: Topic, of conversation: ConversationID) { rooms[conversation]?.channelLost(topic) }

    /// Handles the confirmation of a channel: a read that starts now misses nothing.
    func confirmed(_ topic: Topic, of conversation: ConversationID) {
        if let room = rooms[conversation], room.channelConfirmed(topic) { readAgain(room) }
    }

    func readAgain() { rooms.all.forEach(readAgain) }

    // MARK: What is published and read

    /// Handles a published typing change.
    func typingPublished(_ change: TypingChange, in conversation: ConversationID, at now: Instant) {
        guard let room = rooms[conversation] else { return }
        typingFanOut.changed(change, in: room, at: now)
    }

    /// Handles a published typing change that only a later version can parse: reads the conversation instead.
    func typingUnreadable(in conversation: ConversationID) {
        if let room = rooms[conversation] { unclear.insert(room) }
    }

    /// Handles a published member change: added, renamed, removed, or all replaced.
    func membersPublished(
        _ change: MemberChange, in conversation: ConversationID, at now: Instant
    ) {
        guard let room = rooms[conversation] else { return }
        switch change {
        case .member(let user, let name, let count):
            room.memberChanged(user, to: name, count: count)
        case .removed(let user, let count):
            room.memberChanged(user, to: nil, count: count)
            putOut(table.of(user), of: room, at: now)
            // Of a very large conversation only some are known, and some of those were removed.
            if room.members.known.hasFew(of: loop.settings.limits.watchedUsers) { readMembers(of: room) }
        case .reset:
            readAgain(room)
        case .ask(let user):
            return admissions.dropped(user, in: room, at: now)
        case .people:
            return readMembers(of: room)
        }
        typingFanOut.queue(room)
        memberLists.queue(room)
    }

    /// Handles the result of a conversation read; meanwhile, admissions may have been `dropped`.
    private func roomRead(
        _ read: RoomRead, _ snapshot: RoomSnapshot, for room: Room, dropped: Bool, at now: Instant
    ) {
        guard !room.isOver else { return }
        room.ended(
            read, with: snapshot, mostMembers: loop.settings.limits.watchedUsers, clock: loop.redis.clock, at: now)
        // No session here has been sent anything yet: new sessions get the snapshot and its repeats.
        if read.withTyping, room.sessions.isEmpty {
            typingFanOut.noteShown(room.typing.typists.typists, in: room, toAll: true, at: now)
        }
        if read.mostMembers > 0 { memberLists.queue(room) }
        if snapshot.isManaged { admissions.forgetAll(room) }
        for user in read.users {
            let all = table.of(user)
            // Where there are no members, each session's own right decides, and then the app's server.
            var admitted = snapshot.admitted.contains(user) ? all : []
            var isAsked = false
            if !snapshot.isManaged {
                admitted = all.filter { $0.right.covers(room.conversation) }
                if loop.settings.asksAccess, admitted.count < all.count {
                    isAsked = admissions.judge(user, in: room, snapshot, dropped: dropped, at: now) == .asked
                    admitted = isAsked ? admitted : all
                }
            }
            admitWaiting(admitted, to: room, at: now)
            if !isAsked { putOut(all.filter { !admitted.contains($0) }, of: room, at: now) }
            guard !room.isOver else { return }
        }
        readForWaiting(room)
        typingFanOut.queue(room)
    }

    /// Handles a failed read of a conversation; the next heartbeat retries it.
    private func roomReadFailed(_ read: RoomRead, for room: Room) {
        if !room.isOver { room.failed(read) }
    }

    /// Removes a session from a room. The room closes with its last session. The session may have lost only its connection,
    /// so nothing that survives that ends here.
    func depart(_ session: Session, from room: Room) {
        room.left(session)
        if let user = session.user { admissions.left(user, room) }
        outbound.cancel(.room(room), for: session)
        memberLists.unwatch(room, for: session)
        hereLists.unfollow(room, for: session)
        closeIfDeserted(room)
    }

    /// Has a session's right to join judged again, after it was narrowed: where the conversation has members, they decide
    /// as before. A room that is not live is read anyway.
    func rightNarrowed(of session: Session, user: UserID) {
        for room in session.joined {
            guard loop.redis.answersReads, room.phase == .live, !room.isManaged,
                session.right.covers(room.conversation) == false
            else { continue }
            read(RoomRead(conversation: room.conversation, users: [user], withTyping: false, mostMembers: 0), for: room)
        }
    }

    /// Reads the typists, and the membership of each user who has joined or waits to join.
    private func readAgain(_ room: Room) {
        guard loop.redis.answersReads, room.mayRead else { return }
        let users = room.sessions.elements.compactMap { $0.user }
        read(room.wholeRead(joined: users, mostMembers: loop.settings.limits.watchedUsers), for: room)
        _ = room.pendingJoins.takeUnread()
    }

    /// Requests the reads of typists that are due. Rooms whose channels are not confirmed are read on confirmation,
    /// and all rooms are read when Redis is back.
    func readUnclearRooms() {
        guard !unclear.isEmpty else { return }
        let rooms = unclear.sorted { $0.number < $1.number }
        unclear = []
        for room in rooms where loop.redis.answersReads && room.mayRead && !room.isOver {
            read(RoomRead(conversation: room.conversation, users: [], withTyping: true, mostMembers: 0), for: room)
        }
    }

    func retryReads() {
        for room in rooms.all {
            if room.lacksRead { readAgain(room) } else { readForWaiting(room) }
        }
    }

    private func openRoom(_ conversation: ConversationID) -> Room {
        let room = rooms.insert(conversation) {
            Room(conversation: conversation, number: $0, settings: loop.settings.typing)
        }
        for topic in room.topics { loop.store.subscribe(topic) }
        return room
    }

    private func closeIfDeserted(_ room: Room) {
        guard room.isDeserted, !room.isOver else { return }
        for topic in room.topics { loop.store.unsubscribe(topic) }
        typingFanOut.closed(room)
        room.ended()
        rooms.remove(room.conversation)
    }

    private func read(_ read: RoomRead, for room: Room) {
        room.began(read)
        let drop = room.lastDrop
        loop.store.room(read) { [self] reply in
            loop.after { now in
                guard case .success(let snapshot) = reply else { return roomReadFailed(read, for: room) }
                roomRead(read, snapshot, for: room, dropped: room.lastDrop != drop, at: now)
            }
        }
    }

    /// Handles sessions that may not be in the conversation, or no longer: refuses those that wait, notifies the others
    /// and removes them. Redis ended their typing together with a membership. A signal may have arrived in Redis after
    /// the user became a member again, and where there are no members Redis ends nothing; that typing is stopped here.
    private func putOut(_ all: [Session], of room: Room, at now: Instant) {
        refuseWaiting(all, in: room, at: now)
        let removed = all.filter { room.sessions.contains($0) }
        guard !removed.isEmpty else { return }
        for session in removed {
            // A join whose snapshot still waits has already taken effect.
            outbound.cancel(.room(room), for: session)
            outbound.sendDueAcks(to: session)
        }
        outbound.deliver(.removed(room.conversation), to: removed)
        for session in removed {
            typing.stop(session, in: room)
            hereRecords.exit(room.conversation, on: session, at: now)
            session.left(room)
            depart(session, from: room)
        }
    }

    private func readMembers(of room: Room) {
        let most = loop.settings.limits.watchedUsers
        guard loop.redis.answersReads, !room.isOver, room.members.known.names != nil else { return }
        read(RoomRead(conversation: room.conversation, users: [], withTyping: false, mostMembers: most), for: room)
    }

    // MARK: Access

    private func readAccess(of users: [UserID], in room: Room) {
        guard !users.isEmpty, loop.redis.answersReads, room.phase == .live, !room.isOver else { return }
        read(RoomRead(conversation: room.conversation, users: users, withTyping: false, mostMembers: 0), for: room)
    }

    /// Handles that an admission may have ended, or may have to be renewed. While Redis is away, nobody has to leave.
    func accessDue(_ room: Room, at now: Instant) {
        guard !room.isOver else { return }
        guard loop.redis.answersReads else { return loop.remind(.access(room), at: now + .seconds(1)) }
        let (over, unclear) = admissions.due(room, at: now)
        for user in over { refuse(user, in: room, waiting: false, at: now) }
        readAccess(of: unclear, in: room)
    }

    /// Handles an answer of the app's server: it counts once Redis has noted it, for all workers.
    func answered(_ verdict: AccessQueue.Verdict, at now: Instant) {
        let (question, answer) = (verdict.question, verdict.answer)
        guard let room = rooms[question.conversation], room.asked[question.user] != nil else { return }
        if case .allow = answer { admissions.isBeingNoted(question.user, in: room, at: now) }
        loop.store.write(AccessWrite(question, answer, sent: loop.redis.time(at: verdict.sent))) { [self] reply in
            loop.after { now in
                guard !room.isOver, room.asked[question.user] != nil else { return }
                switch admissions.written(reply, answer, of: question.user, in: room, sent: verdict.sent, at: now) {
                case true: admitWaiting(room.pendingJoins.of(question.user).map(\.session), to: room, at: now)
                case false: refuse(question.user, in: room, at: now)
                case nil: break
                }
                if !room.isOver { readForWaiting(room) }
            }
        }
    }

    /// Has those of a user's sessions leave that have no right of their own.
    private func refuse(_ user: UserID, in room: Room, waiting: Bool = true, at now: Instant) {
        let all = table.of(user).filter { !$0.right.covers(room.conversation) }
        putOut(waiting ? all : all.filter(room.sessions.contains), of: room, at: now)
    }

    // MARK: Joining

    // A join completes once the room receives all changes and the user's membership was read.

    func join(
        _ conversation: ConversationID, presence: Bool, here: Bool, id: MessageID?, on session: Session, at now: Instant
    ) {
        guard let user = session.user else { return }
        guard outbound.mayAckLater(to: session) else { return outbound.answerUnavailable(session, id: id) }
        if let room = rooms[conversation], session.hasJoined(room) {
            return joinedAgain(room, presence: presence, here: here, user: user, id: id, on: session, at: now)
        }
        if let room = rooms[conversation], session.joining.contains(room) {
            return wait(in: room, presence: presence, here: here, user: user, id: id, on: session, at: now)
        }
        guard session.joined.count + session.joining.count < loop.settings.limits.joinedConversations else {
            session.peer?.limitHit(.joinedConversations)
            return outbound.answer(
                session, .limit, id: id,
                "a session joins at most \(loop.settings.limits.joinedConversations) conversations")
        }
        let room = rooms[conversation] ?? openRoom(conversation)
        session.joins(room)
        wait(in: room, presence: presence, here: here, user: user, id: id, on: session, at: now)
    }

    func leave(_ conversation: ConversationID, id: MessageID?, on session: Session, at now: Instant) {
        if let room = rooms[conversation] {
            if let waiting = room.pendingJoins[session] {
                refuse(waiting, .notJoined, "the conversation was left before it was joined")
            }
            typing.stop(session, in: room)
            hereRecords.exit(conversation, on: session, at: now)
            session.left(room)
            session.joinEnded(in: room)
            depart(session, from: room)
            watches.joinEnded(of: session, at: now)
            outbound.sendDueAcks(to: session)
        }
        typing.acknowledge(id, onceStoppedIn: conversation, to: session, at: now)
    }

    /// Handles a typing signal of a session.
    func typed(
        _ isTyping: Bool, _ kind: TypingKind, in conversation: ConversationID, id: MessageID?, on session: Session,
        at now: Instant
    ) {
        guard let room = rooms[conversation], session.hasJoined(room) else {
            if let room = rooms[conversation], session.joining.contains(room) {
                return typedWhileJoining(isTyping, kind, in: room, of: conversation, id: id, on: session, at: now)
            }
            return outbound.answer(session, .notJoined, id: id, "join the conversation first")
        }
        typing.typed(isTyping, kind, in: room, of: conversation, id: id, on: session, at: now)
    }

    /// Handles an `enter`, which may wait for a join.
    func enter(
        _ conversation: ConversationID, _ data: HereData?, id: MessageID?, on session: Session, at now: Instant
    ) {
        guard let room = rooms[conversation], session.hasJoined(room) else {
            guard let room = rooms[conversation], let waiting = room.pendingJoins[session] else {
                return outbound.answer(session, .notJoined, id: id, "join the conversation first")
            }
            outbound.acknowledge(waiting.enter?.id, to: session)
            return room.pendingJoins.change(session) { $0.enter = PendingJoins.Enter(data: data, id: id) }
        }
        hereRecords.enter(conversation, data, id: id, on: session, at: now)
    }

    /// Handles an `exit`.
    func exit(_ conversation: ConversationID, id: MessageID?, on session: Session, at now: Instant) {
        if let room = rooms[conversation], let waiting = room.pendingJoins[session], let enter = waiting.enter {
            outbound.acknowledge(enter.id, to: session)
            room.pendingJoins.change(session) { $0.enter = nil }
        }
        hereRecords.exit(conversation, id: id, isPaced: true, on: session, at: now)
    }

    func stopTypingEverywhere(_ session: Session, at now: Instant) {
        for room in session.typesIn { typing.stop(session, in: room) }
        for room in session.joining { dropDeferredTyping(session, in: room) }
    }

    /// Handles typing in a conversation that is still being joined. A start is held until the join completes; a stop
    /// cancels the held start.
    private func typedWhileJoining(
        _ isTyping: Bool, _ kind: TypingKind, in room: Room, of conversation: ConversationID, id: MessageID?,
        on session: Session, at now: Instant
    ) {
        guard loop.redis.takesWrites || !isTyping else { return outbound.answerUnavailable(session, id: id) }
        dropDeferredTyping(session, in: room)
        guard isTyping, room.pendingJoins[session] != nil else {
            return typing.acknowledge(id, onceStoppedIn: conversation, to: session, at: now)
        }
        room.pendingJoins.change(session) { $0.typing = PendingJoins.Signal(id: id, kind: kind, came: now) }
    }

    private func dropDeferredTyping(_ session: Session, in room: Room) {
        guard let signal = room.pendingJoins[session]?.typing else { return }
        room.pendingJoins.change(session) { $0.typing = nil }
        outbound.acknowledge(signal.id, to: session)
    }

    /// Requests the membership of the users who wait to join a live room.
    private func readForWaiting(_ room: Room) {
        guard loop.redis.answersReads, room.phase == .live, !room.isOver else { return }
        let waiting = room.pendingJoins.takeUnread()
        guard !waiting.isEmpty else { return }
        let wantsMembers = room.members.known.names == nil && waiting.contains(where: \.withPresence)
        read(
            RoomRead(
                conversation: room.conversation, users: Set(waiting.map(\.user)).sorted(), withTyping: false,
                mostMembers: wantsMembers ? loop.settings.limits.watchedUsers : 0),
            for: room)
    }

    /// Completes the joins of sessions that may join, if everything they asked for has been read.
    private func admitWaiting(_ admitted: [Session], to room: Room, at now: Instant) {
        let (isLive, knowsMembers) = (room.phase == .live, room.members.known.names != nil)
        for session in admitted {
            guard let waiting = room.pendingJoins[session] else { continue }
            if isLive, waiting.isRead, knowsMembers || !waiting.withPresence {
                room.pendingJoins.remove(session)
                admit(waiting, to: room, at: now)
            } else {
                room.pendingJoins.readAgain(session)
            }
        }
    }

    private func refuseWaiting(_ refused: [Session], in room: Room, at now: Instant) {
        let reason = typing.notAMember(of: room)
        for session in refused {
            guard let waiting = room.pendingJoins.remove(session) else { continue }
            session.joinEnded(in: room)
            refuse(waiting, .notAMember, reason)
            if waiting.ids.isEmpty { outbound.answer(session, .notAMember, id: nil, reason) }
            watches.joinEnded(of: session, at: now)
        }
        closeIfDeserted(room)
    }

    private func joinedAgain(
        _ room: Room, presence: Bool, here: Bool, user: UserID, id: MessageID?, on session: Session, at now: Instant
    ) {
        outbound.enqueue([.room(room)], for: session)
        let waits = room.pendingJoins[session] != nil
        let watches = room.members.followers.contains(session)
        guard !waits, watches || !presence else {
            return wait(in: room, presence: presence, here: here, user: user, id: id, on: session, at: now)
        }
        if presence { refund(1, of: user, in: room, at: now) }
        if presence { memberLists.showAgain(room, to: session) } else { memberLists.unwatch(room, for: session) }
        if here { hereLists.follow(room, for: session) } else { hereLists.unfollow(room, for: session) }
        outbound.sendDueAcks(to: session)
        outbound.ackWhenFlushed(id, to: session)
    }

    private func wait(
        in room: Room, presence: Bool, here: Bool, user: UserID, id: MessageID?, on session: Session, at now: Instant
    ) {
        guard let waiting = room.pendingJoins[session] else {
            let ids = id.map { [$0] } ?? []
            let join = PendingJoins.Join(
                session: session, user: user, withPresence: presence, withHere: here, charged: presence ? 1 : 0,
                ids: ids)
            room.pendingJoins.insert(join)
            return readForWaiting(room)
        }
        room.pendingJoins.change(session) {
            ($0.withPresence, $0.withHere) = (presence, here)
            if presence { $0.charged += 1 }
        }
        watches.joinEnded(of: session, at: now)
        guard let id else { return }
        // The first join of each conversation always waits; repeated ones count towards a limit over all conversations.
        guard waiting.ids.isEmpty || idsWaitingToJoin(of: session) < outbound.mostWaiting else {
            return outbound.answerUnavailable(session, id: id)
        }
        room.pendingJoins.change(session) { $0.ids.append(id) }
    }

    private func idsWaitingToJoin(of session: Session) -> Int {
        (session.joining + session.joined).reduce(0) { $0 + ($1.pendingJoins[session]?.ids.count ?? 0) }
    }

    private func admit(_ waiting: PendingJoins.Join, to room: Room, at now: Instant) {
        enter(waiting, room, at: now)
        if waiting.withPresence { memberLists.watch(room, for: waiting.session) }
        if waiting.withHere { hereLists.follow(room, for: waiting.session) }
        for id in waiting.ids { outbound.ackWhenFlushed(id, to: waiting.session) }
        refund(waiting.charged, of: waiting.user, in: room, at: now)
        watches.joinEnded(of: waiting.session, at: now)
    }

    /// Gives back what `join`s with presence cost more than the members that they show.
    private func refund(_ joins: Int, of user: UserID, in room: Room, at now: Instant) {
        guard joins > 0 else { return }
        let cost = joins * ClientMessage.refund(showing: room.members.namedCount, loop.settings.limits)
        budgets.refund(cost, to: user, at: now)
    }

    /// Adds a waiting session to the room, and processes the typing signal that it sent while it waited.
    private func enter(_ waiting: PendingJoins.Join, _ room: Room, at now: Instant) {
        let session = waiting.session
        // A session that had already joined waits only for the members.
        if session.hasJoined(room) == false {
            session.joinEnded(in: room)
            session.joined(room)
            room.joined(session)
            outbound.enqueue([.room(room)], for: session)
        }
        if let enter = waiting.enter {
            hereRecords.enter(room.conversation, enter.data, id: enter.id, on: session, at: now)
        }
        guard let signal = waiting.typing else { return }
        // Typing ends at its expiry even if the join took longer.
        guard now < signal.came + loop.settings.typing.expiry else {
            return outbound.acknowledge(signal.id, to: session)
        }
        typing.typed(
            true, signal.kind, in: room, of: room.conversation, id: signal.id, on: session, at: signal.came)
    }

    private func refuse(_ waiting: PendingJoins.Join, _ code: MessageError.Code, _ message: String) {
        for id in waiting.ids { outbound.answer(waiting.session, code, id: id, message) }
        if let signal = waiting.typing { outbound.answer(waiting.session, code, id: signal.id, message) }
        if let enter = waiting.enter { outbound.answer(waiting.session, code, id: enter.id, message) }
    }
}
