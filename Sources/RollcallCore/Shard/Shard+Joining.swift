// Joining and leaving conversations. A join waits until the room hears every change and the user's membership was read.

internal import RollcallModel

extension Shard {
    static let notAMember = "you are not a member of this conversation"

    mutating func join(_ conversation: ConversationID, presence: Bool, id: MessageID?, on key: SessionKey) {
        guard let session = sessions[key], let user = session.user else { return }
        guard mayPromise(to: key) else { return answerUnavailable(key, id: id) }
        if let room = roomKeys[conversation], session.hasJoined(room) {
            return joinedAgain(room, presence: presence, user: user, id: id, on: key)
        }
        if let room = roomKeys[conversation], session.joining.contains(room) {
            return wait(in: room, presence: presence, user: user, id: id, on: key)
        }
        guard session.joined.count + session.joining.count < settings.limits.joinedConversations else {
            actions.append(.limitHit(.joinedConversations, key))
            return answer(
                key, .limit, id: id, "a session joins at most \(settings.limits.joinedConversations) conversations")
        }
        let room = roomKeys[conversation] ?? openRoom(conversation)
        sessions[key]?.joining.append(room)
        wait(in: room, presence: presence, user: user, id: id, on: key)
    }

    mutating func leave(_ conversation: ConversationID, id: MessageID?, on key: SessionKey, at now: Instant) {
        if let room = roomKeys[conversation] {
            if let waiting = rooms[room]?.lobby[key] {
                refuse(waiting, .notJoined, "the conversation was left before it was joined")
            }
            stopTyping(key, in: room)
            sessions[key]?.left(room)
            sessions[key]?.waitsNoMore(for: room)
            depart(key, from: room)
            keepPromises(to: key)
        }
        acknowledge(id, to: key)
    }

    /// A start is held until the join is through; a stop has nothing to end but the start that is held.
    mutating func typedWhileJoining(
        _ typing: Bool, in room: RoomKey, id: MessageID?, on key: SessionKey, at now: Instant
    ) {
        guard isRedisAvailable || !typing else { return answerUnavailable(key, id: id) }
        dropHeldTyping(key, in: room)
        guard typing, rooms[room]?.lobby[key] != nil else { return acknowledge(id, to: key) }
        rooms[room]?.lobby[key]?.typing = Lobby.Signal(id: id, came: now)
    }

    mutating func dropHeldTyping(_ key: SessionKey, in room: RoomKey) {
        guard let signal = rooms[room]?.lobby[key]?.typing else { return }
        rooms[room]?.lobby[key]?.typing = nil
        acknowledge(signal.id, to: key)
    }

    /// Asks for the membership of those who wait to join a room that is live.
    mutating func readForWaiting(_ key: RoomKey) {
        guard isRedisAvailable, rooms[key]?.phase == .live, let conversation = rooms[key]?.conversation else { return }
        for waiting in rooms[key]?.lobby.takeUnread() ?? [] {
            let wantsMembers = waiting.withPresence && rooms[key]?.members.names == nil
            read(
                RoomRead(
                    conversation: conversation, user: waiting.user, withTyping: false,
                    mostMembers: wantsMembers ? settings.limits.watchedUsers : 0),
                for: key)
        }
    }

    /// A user who waits is a member: their sessions are in, once what they asked for has been read.
    mutating func admitWaiting(_ user: UserID, to key: RoomKey, at now: Instant) {
        let isLive = rooms[key]?.phase == .live
        let knowsMembers = rooms[key]?.members.names != nil
        for waiting in rooms[key]?.lobby.of(user) ?? [] {
            if isLive, waiting.isRead, knowsMembers || !waiting.withPresence {
                rooms[key]?.lobby.remove(waiting.session)
                admit(waiting, to: key, at: now)
            } else {
                rooms[key]?.lobby.readAgain(waiting.session)
            }
        }
    }

    mutating func refuseWaiting(_ user: UserID, in key: RoomKey) {
        for waiting in rooms[key]?.lobby.of(user) ?? [] {
            rooms[key]?.lobby.remove(waiting.session)
            sessions[waiting.session]?.waitsNoMore(for: key)
            refuse(waiting, .notAMember, Self.notAMember)
            if waiting.ids.isEmpty { answer(waiting.session, .notAMember, id: nil, Self.notAMember) }
        }
        closeIfDeserted(key)
    }

    private mutating func joinedAgain(
        _ room: RoomKey, presence: Bool, user: UserID, id: MessageID?, on key: SessionKey
    ) {
        owe([.room(room)], to: key)
        let waits = rooms[room]?.lobby[key] != nil
        let watches = rooms[room]?.presenceSessions.contains(key) == true
        guard !waits, watches || !presence else {
            return wait(in: room, presence: presence, user: user, id: id, on: key)
        }
        if presence { oweMembers(of: room, to: key) } else { unwatchMembers(of: room, for: key) }
        keepPromises(to: key)
        promise(id, to: key)
    }

    private mutating func wait(
        in room: RoomKey, presence: Bool, user: UserID, id: MessageID?, on key: SessionKey
    ) {
        guard let waiting = rooms[room]?.lobby[key] else {
            let ids = id.map { [$0] } ?? []
            rooms[room]?.lobby.insert(Lobby.Waiting(session: key, user: user, withPresence: presence, ids: ids))
            return readForWaiting(room)
        }
        rooms[room]?.lobby[key]?.withPresence = presence
        guard let id else { return }
        guard waiting.ids.count < ShardSettings.waitingMessages else { return answerUnavailable(key, id: id) }
        rooms[room]?.lobby[key]?.ids.append(id)
    }

    private mutating func admit(_ waiting: Lobby.Waiting, to key: RoomKey, at now: Instant) {
        guard let conversation = rooms[key]?.conversation else { return }
        let session = waiting.session
        // One that had joined already waits for the members alone.
        if sessions[session]?.hasJoined(key) == false {
            sessions[session]?.waitsNoMore(for: key)
            sessions[session]?.joined.append(key)
            rooms[key]?.sessions.insert(session)
            owe([.room(key)], to: session)
        }
        if waiting.withPresence { watchMembers(of: key, for: session) }
        for id in waiting.ids { promise(id, to: session) }
        guard let signal = waiting.typing else { return }
        // Typing ends by its expiry even if the join took longer.
        guard now < signal.came + settings.typing.expiry else { return acknowledge(signal.id, to: session) }
        typed(true, in: conversation, id: signal.id, on: session, at: signal.came)
    }

    private mutating func refuse(_ waiting: Lobby.Waiting, _ code: MessageError.Code, _ message: String) {
        for id in waiting.ids { answer(waiting.session, code, id: id, message) }
        if let signal = waiting.typing { answer(waiting.session, code, id: signal.id, message) }
    }
}
