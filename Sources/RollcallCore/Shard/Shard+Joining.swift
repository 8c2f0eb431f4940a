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
        _ conversation: ConversationID, presence: Bool, id: MessageID?, on key: SessionKey, at now: Instant
    ) {
        guard let session = sessions[key], let user = session.user else { return }
        guard mayAckLater(to: key) else { return answerUnavailable(key, id: id) }
        if let room = rooms[conversation], session.hasJoined(room) {
            return joinedAgain(room, presence: presence, user: user, id: id, on: key, at: now)
        }
        if let room = rooms[conversation], session.joining.contains(room) {
            return wait(in: room, presence: presence, user: user, id: id, on: key, at: now)
        }
        guard session.joined.count + session.joining.count < settings.limits.joinedConversations else {
            actions.append(.limitHit(.joinedConversations, key))
            return answer(
                key, .limit, id: id, "a session joins at most \(settings.limits.joinedConversations) conversations")
        }
        let room = rooms[conversation] ?? openRoom(conversation)
        sessions.change(key) { $0.joining.append(room) }
        wait(in: room, presence: presence, user: user, id: id, on: key, at: now)
    }

    func leave(_ conversation: ConversationID, id: MessageID?, on key: SessionKey, at now: Instant) {
        if let room = rooms[conversation] {
            if let waiting = room.pendingJoins[key] {
                refuse(waiting, .notJoined, "the conversation was left before it was joined")
            }
            stopTyping(key, in: room)
            sessions.change(key) {
                $0.left(room)
                $0.joinEnded(in: room)
            }
            depart(key, from: room)
            sendDueAcks(to: key)
        }
        acknowledge(id, onceStoppedIn: conversation, to: key, at: now)
    }

    /// Handles typing in a conversation that is still being joined. A start is held until the join completes; a stop
    /// cancels the held start.
    func typedWhileJoining(
        _ typing: Bool, _ kind: TypingKind, in room: Room, of conversation: ConversationID, id: MessageID?,
        on key: SessionKey, at now: Instant
    ) {
        guard redis.takesWrites || !typing else { return answerUnavailable(key, id: id) }
        dropDeferredTyping(key, in: room)
        guard typing, room.pendingJoins[key] != nil else {
            return acknowledge(id, onceStoppedIn: conversation, to: key, at: now)
        }
        room.pendingJoins.change(key) { $0.typing = PendingJoins.Signal(id: id, kind: kind, came: now) }
    }

    func dropDeferredTyping(_ key: SessionKey, in room: Room) {
        guard let signal = room.pendingJoins[key]?.typing else { return }
        room.pendingJoins.change(key) { $0.typing = nil }
        acknowledge(signal.id, to: key)
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
    func admitWaiting(_ admitted: [SessionKey], to room: Room, at now: Instant) {
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

    func refuseWaiting(_ refused: [SessionKey], in room: Room) {
        let reason = notAMember(of: room)
        for session in refused {
            guard let waiting = room.pendingJoins.remove(session) else { continue }
            sessions.change(session) { $0.joinEnded(in: room) }
            refuse(waiting, .notAMember, reason)
            if waiting.ids.isEmpty { answer(session, .notAMember, id: nil, reason) }
        }
        closeIfDeserted(room)
    }

    private func joinedAgain(
        _ room: Room, presence: Bool, user: UserID, id: MessageID?, on key: SessionKey, at now: Instant
    ) {
        fanOut.enqueue([.room(room)], for: key)
        let waits = room.pendingJoins[key] != nil
        let watches = room.presenceSessions.contains(key)
        guard !waits, watches || !presence else {
            return wait(in: room, presence: presence, user: user, id: id, on: key, at: now)
        }
        if presence { refund(1, of: user, in: room, at: now) }
        if presence { enqueueMembers(of: room, to: key) } else { unwatchMembers(of: room, for: key) }
        sendDueAcks(to: key)
        ackWhenFlushed(id, to: key)
    }

    private func wait(
        in room: Room, presence: Bool, user: UserID, id: MessageID?, on key: SessionKey, at now: Instant
    ) {
        guard let waiting = room.pendingJoins[key] else {
            let ids = id.map { [$0] } ?? []
            let join = PendingJoins.Join(
                session: key, user: user, withPresence: presence, charged: presence ? 1 : 0, ids: ids)
            room.pendingJoins.insert(join)
            return readForWaiting(room)
        }
        room.pendingJoins.change(key) {
            $0.withPresence = presence
            if presence { $0.charged += 1 }
        }
        guard let id else { return }
        // The first join of each conversation always waits; repeated ones count towards a limit over all conversations.
        guard waiting.ids.isEmpty || idsWaitingToJoin(of: key) < mostWaiting else {
            return answerUnavailable(key, id: id)
        }
        room.pendingJoins.change(key) { $0.ids.append(id) }
    }

    private func idsWaitingToJoin(of key: SessionKey) -> Int {
        guard let session = sessions[key] else { return 0 }
        return (session.joining + session.joined).reduce(0) { $0 + ($1.pendingJoins[key]?.ids.count ?? 0) }
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
        for key in sessions.keys(of: user) where sessions.read(key, { $0.held != nil }) == true {
            timers.remind(.held(key), at: now)
        }
    }

    /// Adds a waiting session to the room, and processes the typing signal that it sent while it waited.
    private func enter(_ waiting: PendingJoins.Join, _ room: Room, at now: Instant) {
        let session = waiting.session
        // A session that had already joined waits only for the members.
        if sessions[session]?.hasJoined(room) == false {
            sessions.change(session) {
                $0.joinEnded(in: room)
                $0.joined.append(room)
            }
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
