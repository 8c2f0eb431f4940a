// Conversations: published typing and member changes, reads, and the rooms that sessions join.

package import RollcallProtocol

extension Shard {
    /// Handles a published typing change.
    package func typingChanged(_ change: TypingChange, in conversation: ConversationID, at now: Instant) {
        guard let room = rooms[conversation] else { return }
        room.changed(change, clock: redis.clock, at: now)
        fanOut.typing.insert(room)
    }

    /// Handles a published typing change that only a later version can parse: reads the conversation instead.
    package func typingUnreadable(in conversation: ConversationID) {
        if let room = rooms[conversation] { reads.insert(room) }
    }

    /// Handles a published member change: added, renamed, removed, or all replaced.
    package func memberChanged(
        _ change: MemberChange, in conversation: ConversationID, at now: Instant
    ) {
        guard let room = rooms[conversation] else { return }
        switch change {
        case .member(let user, let name, let count):
            room.memberChanged(user, to: name, count: count)
        case .removed(let user, let count):
            room.memberChanged(user, to: nil, count: count)
            putOut(sessions.of(user), of: room)
            readMoreMembers(of: room)
        case .reset:
            readAgain(room)
        }
        fanOut.typing.insert(room)
        fanOut.members.insert(room)
    }

    /// Handles the result of a conversation read.
    func roomRead(
        _ read: RoomRead, _ snapshot: RoomSnapshot, for room: Room, at now: Instant
    ) {
        guard !room.isOver else { return }
        room.ended(read, with: snapshot, mostMembers: settings.limits.watchedUsers, clock: redis.clock, at: now)
        // No session here has been sent anything yet: new sessions get the snapshot and its repeats.
        if read.withTyping, room.sessions.isEmpty { noteTold(room.typists.typists, in: room, toAll: true, at: now) }
        if read.mostMembers > 0 { fanOut.members.insert(room) }
        for user in read.users {
            // Where there are no members, each session's own right decides.
            let isAdmitted = snapshot.isManaged && snapshot.admitted.contains(user)
            let all = sessions.of(user)
            let mayJoin = all.map { session in
                snapshot.isManaged
                    ? isAdmitted : session.right.opens(room.conversation)
            }
            admitWaiting(zip(all, mayJoin).filter(\.1).map(\.0), to: room, at: now)
            putOut(zip(all, mayJoin).filter { !$1 }.map(\.0), of: room)
            guard !room.isOver else { return }
        }
        readForWaiting(room)
        fanOut.typing.insert(room)
    }

    /// Handles a failed read of a conversation; the next heartbeat retries it.
    func roomReadFailed(_ read: RoomRead, for room: Room) {
        if !room.isOver { room.failed(read) }
    }

    /// Removes a session from a room. The room closes with its last session.
    func depart(_ session: Session, from room: Room) {
        room.left(session)
        fanOut.cancel(.room(room), for: session)
        unwatchMembers(of: room, for: session)
        closeIfDeserted(room)
    }

    /// Has a session's right to join judged again, after it was narrowed: where the conversation has members, they decide
    /// as before. A room that is not live is read anyway.
    func rightNarrowed(of session: Session, user: UserID) {
        for room in session.joined {
            guard redis.answersReads, room.phase == .live, !room.isManaged,
                session.right.opens(room.conversation) == false
            else { continue }
            read(RoomRead(conversation: room.conversation, users: [user], withTyping: false, mostMembers: 0), for: room)
        }
    }

    /// Reads the typists, and the membership of each user who has joined or waits to join.
    func readAgain(_ room: Room) {
        guard redis.answersReads, room.mayRead else { return }
        let users = room.sessions.elements.compactMap { $0.user }
        read(room.wholeRead(joined: users, mostMembers: settings.limits.watchedUsers), for: room)
        _ = room.pendingJoins.takeUnread()
    }

    /// Requests the reads of typists that are due. Rooms whose channels are not confirmed are read on confirmation,
    /// and all rooms are read when Redis is back.
    func readUnclearRooms() {
        for room in reads.takeRooms() where redis.answersReads && room.mayRead && !room.isOver {
            read(RoomRead(conversation: room.conversation, users: [], withTyping: true, mostMembers: 0), for: room)
        }
    }

    func retryRoomReads() {
        for room in rooms.all {
            if room.lacksRead { readAgain(room) } else { readForWaiting(room) }
        }
    }

    func openRoom(_ conversation: ConversationID) -> Room {
        let room = rooms.insert(conversation) {
            Room(conversation: conversation, number: $0, settings: settings.typing)
        }
        for topic in room.topics { store.subscribe(topic) }
        return room
    }

    func closeIfDeserted(_ room: Room) {
        guard room.isDeserted, !room.isOver else { return }
        for topic in room.topics { store.unsubscribe(topic) }
        fanOut.typistCount -= room.told.count
        room.ended()
        rooms.remove(room.conversation)
    }

    func read(_ read: RoomRead, for room: Room) {
        room.began(read)
        store.room(read) { [self] reply in
            after { shard, now in
                guard case .success(let snapshot) = reply else { return shard.roomReadFailed(read, for: room) }
                shard.roomRead(read, snapshot, for: room, at: now)
            }
        }
    }

    /// Handles sessions that may not be in the conversation, or no longer: refuses those that wait, notifies the others
    /// and removes them. Redis ended their typing together with a membership. A signal may have arrived in Redis after
    /// the user became a member again, and where there are no members Redis ends nothing; that typing is stopped here.
    private func putOut(_ all: [Session], of room: Room) {
        refuseWaiting(all, in: room)
        let removed = all.filter { room.sessions.contains($0) }
        guard !removed.isEmpty else { return }
        for session in removed {
            // A join whose snapshot still waits has already taken effect.
            fanOut.cancel(.room(room), for: session)
            sendDueAcks(to: session)
        }
        deliver(.removed(room.conversation), to: removed)
        for session in removed {
            stopTyping(session, in: room)
            session.left(room)
            depart(session, from: room)
        }
    }
}

// MARK: Joining

// Joining and leaving conversations. A join completes once the room receives all changes and the user's membership was
// read.

extension Shard {
    /// Why a session may not join or type.
    func notAMember(of room: Room?) -> String {
        room?.isManaged == false
            ? "the conversation is closed, since its members were never set: set them with PUT /v1/conversations/{c}/members, "
                + "name it in the token's claim join, or set conversations.default: open"
            : "you are not a member of this conversation"
    }

    func join(
        _ conversation: ConversationID, presence: Bool, id: MessageID?, on session: Session, at now: Instant
    ) {
        guard let user = session.user else { return }
        guard mayAckLater(to: session) else { return answerUnavailable(session, id: id) }
        if let room = rooms[conversation], session.hasJoined(room) {
            return joinedAgain(room, presence: presence, user: user, id: id, on: session, at: now)
        }
        if let room = rooms[conversation], session.joining.contains(room) {
            return wait(in: room, presence: presence, user: user, id: id, on: session, at: now)
        }
        guard session.joined.count + session.joining.count < settings.limits.joinedConversations else {
            session.peer?.limitHit(.joinedConversations)
            return answer(
                session, .limit, id: id, "a session joins at most \(settings.limits.joinedConversations) conversations")
        }
        let room = rooms[conversation] ?? openRoom(conversation)
        session.joins(room)
        wait(in: room, presence: presence, user: user, id: id, on: session, at: now)
    }

    func leave(_ conversation: ConversationID, id: MessageID?, on session: Session, at now: Instant) {
        if let room = rooms[conversation] {
            if let waiting = room.pendingJoins[session] {
                refuse(waiting, .notJoined, "the conversation was left before it was joined")
            }
            stopTyping(session, in: room)
            session.left(room)
            session.joinEnded(in: room)
            depart(session, from: room)
            sendDueAcks(to: session)
        }
        acknowledge(id, onceStoppedIn: conversation, to: session, at: now)
    }

    /// Handles typing in a conversation that is still being joined. A start is held until the join completes; a stop
    /// cancels the held start.
    func typedWhileJoining(
        _ typing: Bool, _ kind: TypingKind, in room: Room, of conversation: ConversationID, id: MessageID?,
        on session: Session, at now: Instant
    ) {
        guard redis.takesWrites || !typing else { return answerUnavailable(session, id: id) }
        dropDeferredTyping(session, in: room)
        guard typing, room.pendingJoins[session] != nil else {
            return acknowledge(id, onceStoppedIn: conversation, to: session, at: now)
        }
        room.pendingJoins.change(session) { $0.typing = PendingJoins.Signal(id: id, kind: kind, came: now) }
    }

    func dropDeferredTyping(_ session: Session, in room: Room) {
        guard let signal = room.pendingJoins[session]?.typing else { return }
        room.pendingJoins.change(session) { $0.typing = nil }
        acknowledge(signal.id, to: session)
    }

    /// Requests the membership of the users who wait to join a live room.
    func readForWaiting(_ room: Room) {
        guard redis.answersReads, room.phase == .live, !room.isOver else { return }
        let waiting = room.pendingJoins.takeUnread()
        guard !waiting.isEmpty else { return }
        let wantsMembers = room.members.names == nil && waiting.contains(where: \.withPresence)
        read(
            RoomRead(
                conversation: room.conversation, users: Set(waiting.map(\.user)).sorted(), withTyping: false,
                mostMembers: wantsMembers ? settings.limits.watchedUsers : 0),
            for: room)
    }

    /// Completes the joins of sessions that may join, if everything they asked for has been read.
    func admitWaiting(_ admitted: [Session], to room: Room, at now: Instant) {
        let (isLive, knowsMembers) = (room.phase == .live, room.members.names != nil)
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

    func refuseWaiting(_ refused: [Session], in room: Room) {
        let reason = notAMember(of: room)
        for session in refused {
            guard let waiting = room.pendingJoins.remove(session) else { continue }
            session.joinEnded(in: room)
            refuse(waiting, .notAMember, reason)
            if waiting.ids.isEmpty { answer(session, .notAMember, id: nil, reason) }
        }
        closeIfDeserted(room)
    }

    private func joinedAgain(
        _ room: Room, presence: Bool, user: UserID, id: MessageID?, on session: Session, at now: Instant
    ) {
        fanOut.enqueue([.room(room)], for: session)
        let waits = room.pendingJoins[session] != nil
        let watches = room.presenceSessions.contains(session)
        guard !waits, watches || !presence else {
            return wait(in: room, presence: presence, user: user, id: id, on: session, at: now)
        }
        if presence { refund(1, of: user, in: room, at: now) }
        if presence { enqueueMembers(of: room, to: session) } else { unwatchMembers(of: room, for: session) }
        sendDueAcks(to: session)
        ackWhenFlushed(id, to: session)
    }

    private func wait(
        in room: Room, presence: Bool, user: UserID, id: MessageID?, on session: Session, at now: Instant
    ) {
        guard let waiting = room.pendingJoins[session] else {
            let ids = id.map { [$0] } ?? []
            let join = PendingJoins.Join(
                session: session, user: user, withPresence: presence, charged: presence ? 1 : 0, ids: ids)
            room.pendingJoins.insert(join)
            return readForWaiting(room)
        }
        room.pendingJoins.change(session) {
            $0.withPresence = presence
            if presence { $0.charged += 1 }
        }
        guard let id else { return }
        // The first join of each conversation always waits; repeated ones count towards a limit over all conversations.
        guard waiting.ids.isEmpty || idsWaitingToJoin(of: session) < mostWaiting else {
            return answerUnavailable(session, id: id)
        }
        room.pendingJoins.change(session) { $0.ids.append(id) }
    }

    private func idsWaitingToJoin(of session: Session) -> Int {
        (session.joining + session.joined).reduce(0) { $0 + ($1.pendingJoins[session]?.ids.count ?? 0) }
    }

    private func admit(_ waiting: PendingJoins.Join, to room: Room, at now: Instant) {
        enter(waiting, room, at: now)
        if waiting.withPresence { watchMembers(of: room, for: waiting.session) }
        for id in waiting.ids { ackWhenFlushed(id, to: waiting.session) }
        refund(waiting.charged, of: waiting.user, in: room, at: now)
    }

    /// Gives back what `join`s with presence cost more than the members that they show. The sessions of the user that wait
    /// for their budget go on.
    private func refund(_ joins: Int, of user: UserID, in room: Room, at now: Instant) {
        guard joins > 0 else { return }
        let shown = room.members.names?.count ?? 0
        budgets.refund(joins * ClientMessage.refund(showing: shown, settings.limits), to: user)
        if budgets.isWaited(for: user) { timers.remind(.turns(user), at: now) }
    }

    /// Adds a waiting session to the room, and processes the typing signal that it sent while it waited.
    private func enter(_ waiting: PendingJoins.Join, _ room: Room, at now: Instant) {
        let session = waiting.session
        // A session that had already joined waits only for the members.
        if session.hasJoined(room) == false {
            session.joinEnded(in: room)
            session.joined(room)
            room.joined(session)
            fanOut.enqueue([.room(room)], for: session)
        }
        guard let signal = waiting.typing else { return }
        // Typing ends at its expiry even if the join took longer.
        guard now < signal.came + settings.typing.expiry else { return acknowledge(signal.id, to: session) }
        typed(true, signal.kind, in: room.conversation, id: signal.id, on: session, at: signal.came)
    }

    private func refuse(_ waiting: PendingJoins.Join, _ code: MessageError.Code, _ message: String) {
        for id in waiting.ids { answer(waiting.session, code, id: id, message) }
        if let signal = waiting.typing { answer(waiting.session, code, id: signal.id, message) }
    }
}
