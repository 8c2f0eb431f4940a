// Joining and leaving conversations. A join completes once the room receives all changes and the user's membership was
// read.

internal import RollcallModel

extension Shard {
    /// Why a session may not join or type.
    func notAMember(of room: Room?) -> String {
        room?.isManaged == false
            ? "the conversation has no members, and neither the token's claim join nor conversations.default opens it"
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
        session.joining.append(room)
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
        for session in sessions.of(user) where session.held != nil {
            timers.remind(.held(session), at: now)
        }
    }

    /// Adds a waiting session to the room, and processes the typing signal that it sent while it waited.
    private func enter(_ waiting: PendingJoins.Join, _ room: Room, at now: Instant) {
        let session = waiting.session
        // A session that had already joined waits only for the members.
        if session.hasJoined(room) == false {
            session.joinEnded(in: room)
            session.joined.append(room)
            room.sessions.insert(session)
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
