// Joining and leaving conversations. A join waits until the room hears every change and the user's membership was read.

internal import RollcallModel

extension Shard {
    static let notAMember = "you are not a member of this conversation"

    mutating func join(_ conversation: ConversationID, presence: Bool, id: MessageID?, on key: SessionKey) {
        guard let session = sessions[key], let user = session.user else { return }
        guard mayPromise(to: key) else { return answerUnavailable(key, id: id) }
        if let room = roomKeys[conversation], session.joined.contains(where: { $0.room == room }) {
            return joinedAgain(room, presence: presence, user: user, id: id, on: key)
        }
        if let room = roomKeys[conversation], session.joining.contains(room) {
            return wait(in: room, presence: presence, user: user, id: id, on: key)
        }
        guard session.joined.count + session.joining.count < settings.limits.joinedConversations else {
            return answer(
                key, .limit, id: id, "a session joins at most \(settings.limits.joinedConversations) conversations")
        }
        let room = roomKeys[conversation] ?? openRoom(conversation)
        sessions[key]?.joining.append(room)
        wait(in: room, presence: presence, user: user, id: id, on: key)
    }

    mutating func leave(_ conversation: ConversationID, id: MessageID?, on key: SessionKey, at now: Instant) {
        if let room = roomKeys[conversation] {
            for waiting in rooms[room]?.waiting ?? [] where waiting.session == key {
                refuse(waiting, .notJoined, "the conversation was left before it was joined")
            }
            if let index = sessions[key]?.joined.firstIndex(where: { $0.room == room }) {
                stopTyping(key, joined: index)
                sessions[key]?.joined.remove(at: index)
            }
            sessions[key]?.joining.removeAll { $0 == room }
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
        guard typing, let index = rooms[room]?.waiting.firstIndex(where: { $0.session == key }) else {
            return acknowledge(id, to: key)
        }
        rooms[room]?.waiting[index].typing = Room.Signal(id: id, came: now)
    }

    mutating func dropHeldTyping(_ key: SessionKey, in room: RoomKey) {
        guard let index = rooms[room]?.waiting.firstIndex(where: { $0.session == key }),
            let signal = rooms[room]?.waiting[index].typing
        else { return }
        rooms[room]?.waiting[index].typing = nil
        acknowledge(signal.id, to: key)
    }

    /// Asks for the membership of those who wait to join a room that is live.
    mutating func readForWaiting(_ key: RoomKey) {
        guard isRedisAvailable, let room = rooms[key], room.phase == .live else { return }
        for (index, waiting) in room.waiting.enumerated() where !waiting.isRead {
            rooms[key]?.waiting[index].isRead = true
            let wantsMembers = waiting.withPresence && room.members.names == nil
            read(
                RoomRead(
                    conversation: room.conversation, user: waiting.user, withTyping: false, withMembers: wantsMembers),
                for: key)
        }
    }

    /// A user who waits is a member: their sessions are in, once what they asked for has been read.
    mutating func admitWaiting(_ user: UserID, to key: RoomKey, at now: Instant) {
        guard let room = rooms[key] else { return }
        let isReady = { (waiting: Room.Waiting) in
            room.phase == .live && waiting.user == user && waiting.isRead
                && (!waiting.withPresence || room.members.names != nil)
        }
        rooms[key]?.waiting.removeAll(where: isReady)
        for index in (rooms[key]?.waiting ?? []).indices where rooms[key]?.waiting[index].user == user {
            rooms[key]?.waiting[index].isRead = false
        }
        for waiting in room.waiting where isReady(waiting) { admit(waiting, to: key, at: now) }
    }

    mutating func refuseWaiting(_ user: UserID, in key: RoomKey) {
        let refused = (rooms[key]?.waiting ?? []).filter { $0.user == user }
        rooms[key]?.waiting.removeAll { $0.user == user }
        for waiting in refused {
            sessions[waiting.session]?.joining.removeAll { $0 == key }
            refuse(waiting, .notAMember, Self.notAMember)
            if waiting.ids.isEmpty { answer(waiting.session, .notAMember, id: nil, Self.notAMember) }
        }
        closeIfDeserted(key)
    }

    private mutating func joinedAgain(
        _ room: RoomKey, presence: Bool, user: UserID, id: MessageID?, on key: SessionKey
    ) {
        owe(.room(room), to: key)
        let waits = rooms[room]?.waiting.contains { $0.session == key } == true
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
        guard let index = rooms[room]?.waiting.firstIndex(where: { $0.session == key }) else {
            let ids = id.map { [$0] } ?? []
            rooms[room]?.waiting.append(Room.Waiting(session: key, user: user, withPresence: presence, ids: ids))
            return readForWaiting(room)
        }
        rooms[room]?.waiting[index].withPresence = presence
        guard let id else { return }
        guard rooms[room]?.waiting[index].ids.count ?? 0 < ShardSettings.waitingMessages else {
            return answerUnavailable(key, id: id)
        }
        rooms[room]?.waiting[index].ids.append(id)
    }

    private mutating func admit(_ waiting: Room.Waiting, to key: RoomKey, at now: Instant) {
        guard let room = rooms[key] else { return }
        let session = waiting.session
        // One that had joined already waits for the members alone.
        if sessions[session]?.joined.contains(where: { $0.room == key }) == false {
            let sender = TypingSender(expiry: settings.typing.expiry, throttle: settings.typing.throttle)
            sessions[session]?.joining.removeAll { $0 == key }
            sessions[session]?.joined.append(Session.Joined(room: key, typing: sender))
            rooms[key]?.sessions.append(session)
            owe(.room(key), to: session)
        }
        if waiting.withPresence { watchMembers(of: key, for: session) }
        for id in waiting.ids { promise(id, to: session) }
        guard let signal = waiting.typing else { return }
        // Typing ends by its expiry even if the join took longer.
        guard now < signal.came + settings.typing.expiry else { return acknowledge(signal.id, to: session) }
        typed(true, in: room.conversation, id: signal.id, on: session, at: signal.came)
    }

    private mutating func refuse(_ waiting: Room.Waiting, _ code: MessageError.Code, _ message: String) {
        for id in waiting.ids { answer(waiting.session, code, id: id, message) }
        if let signal = waiting.typing { answer(waiting.session, code, id: signal.id, message) }
    }
}
