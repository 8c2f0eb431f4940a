// Conversations: joining and leaving, who types there, and telling those who look.

public import RollcallModel

extension Shard {
    /// A typing change was published.
    public mutating func typingChanged(_ change: TypingChange, in conversation: ConversationID) {
        guard let key = roomKeys[conversation] else { return }
        rooms[key]?.typists.changed(change, clock: clock)
        roomChanged(key)
    }

    /// A member came, changed name or went.
    public mutating func memberChanged(
        _ change: MemberChange, in conversation: ConversationID, at now: Instant
    ) -> [ShardAction] {
        guard let key = roomKeys[conversation] else { return [] }
        switch change {
        case .member(let user, let name):
            rooms[key]?.typists.renamed(user, to: name)
            if rooms[key]?.members?.insert(user).inserted == true {
                for session in rooms[key]?.presenceSessions ?? [] { addWatcher(session, of: user) }
            }
        case .removed(let user):
            rooms[key]?.typists.removed(user)
            memberRemoved(user, from: key)
        case .reset:
            readRoomAgain(key)
        }
        roomChanged(key)
        return take()
    }

    /// A conversation was read.
    public mutating func roomRead(
        _ read: RoomRead, _ snapshot: RoomSnapshot, for key: RoomKey, at now: Instant
    ) -> [ShardAction] {
        guard rooms[key] != nil else { return [] }
        if read.withTyping { typistsRead(snapshot, in: key) }
        if let members = snapshot.members { membersRead(Set(members.keys), in: key) }
        if snapshot.isMember {
            admitWaiting(read.user, to: key, at: now)
        } else {
            refuseWaiting(read.user, in: key)
            memberRemoved(read.user, from: key)
        }
        roomChanged(key)
        return take()
    }

    /// A read of a conversation failed; the next heartbeat tries again.
    public mutating func roomReadFailed(_ read: RoomRead, for key: RoomKey) {
        if read.withTyping, rooms[key]?.phase == .live { rooms[key]?.phase = .reading }
        for index in (rooms[key]?.waiting ?? []).indices where rooms[key]?.waiting[index].user == read.user {
            rooms[key]?.waiting[index].isRead = false
        }
    }

    mutating func join(_ conversation: ConversationID, presence: Bool, id: MessageID?, on key: SessionKey) {
        guard let session = sessions[key], let user = session.user else { return }
        if let room = roomKeys[conversation], session.joined.contains(where: { $0.room == room }) {
            return joinedAgain(room, presence: presence, id: id, on: key)
        }
        guard session.joined.count + session.joining.count < settings.limits.joinedConversations else {
            return answer(
                key, .limit, id: id, "a session joins at most \(settings.limits.joinedConversations) conversations")
        }
        let room = roomKeys[conversation] ?? openRoom(conversation)
        rooms[room]?.waiting.append(Room.Waiting(session: key, user: user, withPresence: presence, id: id))
        sessions[key]?.joining.append(room)
        readForWaiting(room)
    }

    mutating func leave(_ conversation: ConversationID, id: MessageID?, on key: SessionKey, at now: Instant) {
        if let room = roomKeys[conversation] {
            if let index = sessions[key]?.joined.firstIndex(where: { $0.room == room }) {
                stopTyping(key, joined: index)
                sessions[key]?.joined.remove(at: index)
                depart(key, from: room)
            } else if sessions[key]?.joining.contains(room) == true {
                sessions[key]?.joining.removeAll { $0 == room }
                stopWaiting(key, in: room)
            }
        }
        acknowledge(id, to: key)
    }

    /// Takes a session out of a room; the last to go ends the room.
    mutating func depart(_ key: SessionKey, from room: RoomKey) {
        rooms[room]?.sessions.removeAll { $0 == key }
        if rooms[room]?.presenceSessions.remove(key) != nil {
            for member in rooms[room]?.members ?? [] { removeWatcher(key, of: member) }
        }
        closeIfDeserted(room)
    }

    mutating func stopWaiting(_ key: SessionKey, in room: RoomKey) {
        rooms[room]?.waiting.removeAll { $0.session == key }
        closeIfDeserted(room)
    }

    mutating func typedWhileJoining(_ typing: Bool, id: MessageID?, on key: SessionKey, room: RoomKey) -> Bool {
        guard let index = rooms[room]?.waiting.firstIndex(where: { $0.session == key }) else { return false }
        acknowledge(rooms[room]?.waiting[index].typing?.id, to: key)
        rooms[room]?.waiting[index].typing = Room.Signal(typing: typing, id: id)
        return true
    }

    mutating func roomSubscribed(_ key: RoomKey, _ topic: Topic) {
        guard case .subscribing(var missing) = rooms[key]?.phase else { return }
        missing.remove(topic)
        guard missing.isEmpty else {
            rooms[key]?.phase = .subscribing(missing: missing)
            return
        }
        rooms[key]?.phase = .reading
        readRoomAgain(key)
    }

    /// Reads who types, and the membership of each user here and of those who wait.
    mutating func readRoomAgain(_ key: RoomKey) {
        guard isRedisAvailable, let room = rooms[key], room.phase == .reading || room.phase == .live else { return }
        rooms[key]?.typists.readBegan()
        let waiting = room.waiting.map(\.user)
        let users = Set(room.sessions.compactMap { sessions[$0]?.user } + waiting).sorted()
        for (index, user) in users.enumerated() {
            let wantsMembers =
                index == 0 && (!room.presenceSessions.isEmpty || room.waiting.contains(where: \.withPresence))
            actions.append(
                .readRoom(
                    RoomRead(
                        conversation: room.conversation, user: user, withTyping: index == 0,
                        withMembers: wantsMembers),
                    for: key))
        }
        for index in room.waiting.indices { rooms[key]?.waiting[index].isRead = true }
    }

    mutating func retryRoomReads() {
        for key in rooms.keys {
            guard let room = rooms[key] else { continue }
            if room.phase == .reading, !room.waiting.contains(where: \.isRead) {
                readRoomAgain(key)
            } else {
                readForWaiting(key)
            }
        }
    }

    mutating func tellRooms(at now: Instant) {
        for key in changedRooms.sorted(by: { $0.index < $1.index }) {
            guard let room = rooms[key] else { continue }
            let moment = room.mayTell(at: now, settings: settings.typing)
            if moment > now {
                timers.remind(.room(key), at: moment)
            } else {
                tell(key, at: now)
            }
            if let expiry = room.typists.nextExpiry { timers.remind(.room(key), at: expiry) }
        }
        changedRooms = []
    }

    /// A typist's expiry, a held-back change or a repeat may be due.
    mutating func roomDue(_ key: RoomKey, at now: Instant) {
        guard rooms[key] != nil else { return }
        rooms[key]?.typists.expired(at: now)
        roomChanged(key)
        if let moment = rooms[key]?.nextRepeat(after: settings.typing.expiry) {
            if moment <= now { repeatToRoom(key, at: now) }
            if let next = rooms[key]?.nextRepeat(after: settings.typing.expiry) { timers.remind(.room(key), at: next) }
        }
    }

    mutating func roomChanged(_ key: RoomKey) {
        changedRooms.insert(key)
    }

    private mutating func openRoom(_ conversation: ConversationID) -> RoomKey {
        let room = Room(conversation: conversation)
        let key = rooms.insert(room)
        roomKeys[conversation] = key
        for topic in room.topics { actions.append(.subscribe(topic)) }
        return key
    }

    private mutating func closeIfDeserted(_ key: RoomKey) {
        guard let room = rooms[key], room.isDeserted else { return }
        for topic in room.topics { actions.append(.unsubscribe(topic)) }
        roomKeys[room.conversation] = nil
        rooms.remove(key)
    }

    /// Asks for the membership of those who wait to join a room that is live.
    private mutating func readForWaiting(_ key: RoomKey) {
        guard isRedisAvailable, let room = rooms[key], room.phase == .live else { return }
        for (index, waiting) in room.waiting.enumerated() where !waiting.isRead {
            rooms[key]?.waiting[index].isRead = true
            actions.append(
                .readRoom(
                    RoomRead(
                        conversation: room.conversation, user: waiting.user, withTyping: false,
                        withMembers: waiting.withPresence && room.members == nil),
                    for: key))
        }
    }

    private mutating func joinedAgain(_ room: RoomKey, presence: Bool, id: MessageID?, on key: SessionKey) {
        sendSnapshot(of: room, to: key)
        if presence, rooms[room]?.presenceSessions.contains(key) == false, let user = sessions[key]?.user {
            rooms[room]?.waiting.append(Room.Waiting(session: key, user: user, withPresence: true, id: id))
            return readForWaiting(room)
        }
        acknowledge(id, to: key)
    }

    private mutating func typistsRead(_ snapshot: RoomSnapshot, in key: RoomKey) {
        rooms[key]?.typists.snapshotRead(snapshot, clock: clock)
        rooms[key]?.phase = .live
        // Nobody here has been told anything yet: newcomers get the snapshot itself.
        if let room = rooms[key], room.sessions.isEmpty { rooms[key]?.told = room.typists.typists }
    }

    private mutating func membersRead(_ members: Set<UserID>, in key: RoomKey) {
        guard let room = rooms[key] else { return }
        let before = room.members ?? []
        rooms[key]?.members = members
        for session in room.presenceSessions {
            for member in members.subtracting(before) { addWatcher(session, of: member) }
            for member in before.subtracting(members) { removeWatcher(session, of: member) }
        }
    }

    private mutating func admitWaiting(_ user: UserID, to key: RoomKey, at now: Instant) {
        guard let room = rooms[key], room.phase == .live else { return }
        let admitted = room.waiting.filter { $0.user == user && $0.isRead }
        rooms[key]?.waiting.removeAll { $0.user == user && $0.isRead }
        for waiting in admitted {
            let sender = TypingSender(expiry: settings.typing.expiry, throttle: settings.typing.throttle)
            sessions[waiting.session]?.joining.removeAll { $0 == key }
            sessions[waiting.session]?.joined.append(
                Session.Joined(room: key, withPresence: waiting.withPresence, typing: sender))
            rooms[key]?.sessions.append(waiting.session)
            sendSnapshot(of: key, to: waiting.session)
            if waiting.withPresence { watchMembers(of: key, for: waiting.session) }
            acknowledge(waiting.id, to: waiting.session)
            if let signal = waiting.typing {
                typed(signal.typing, in: room.conversation, id: signal.id, on: waiting.session, at: now)
            }
        }
    }

    private mutating func watchMembers(of key: RoomKey, for session: SessionKey) {
        rooms[key]?.presenceSessions.insert(session)
        for member in rooms[key]?.members ?? [] { addWatcher(session, of: member) }
    }

    private mutating func refuseWaiting(_ user: UserID, in key: RoomKey) {
        for waiting in rooms[key]?.waiting ?? [] where waiting.user == user {
            sessions[waiting.session]?.joining.removeAll { $0 == key }
            answer(waiting.session, .notAMember, id: waiting.id, "you are not a member of this conversation")
        }
        rooms[key]?.waiting.removeAll { $0.user == user }
        closeIfDeserted(key)
    }

    /// A user is no member any more: their sessions are told, and are out. Their typing went with the membership.
    private mutating func memberRemoved(_ user: UserID, from key: RoomKey) {
        guard let room = rooms[key] else { return }
        if rooms[key]?.members?.remove(user) != nil {
            for session in room.presenceSessions { removeWatcher(session, of: user) }
        }
        let removed = room.sessions.filter { sessions[$0]?.user == user }
        guard !removed.isEmpty else { return }
        actions.append(.send(.removed(room.conversation), to: removed))
        for session in removed {
            sessions[session]?.joined.removeAll { $0.room == key }
            depart(session, from: key)
        }
    }

    private mutating func sendSnapshot(of key: RoomKey, to session: SessionKey) {
        guard let room = rooms[key] else { return }
        let message = ServerMessage.typing(
            in: room.conversation, of: room.told, but: sessions[session]?.user, names: settings.typing.names)
        actions.append(.send(message, to: [session]))
    }

    /// Tells each session what changed for it since it was last told. Sessions of those who type, or did, do not see
    /// themselves, so that each of these users has a message of their own.
    private mutating func tell(_ key: RoomKey, at now: Instant) {
        guard let room = rooms[key], room.phase == .live || !room.sessions.isEmpty else { return }
        let typists = room.typists.typists
        guard typists != room.told else { return }
        send(to: key, before: room.told, now: typists)
        rooms[key]?.told = typists
        rooms[key]?.lastTold = now
        if let moment = rooms[key]?.nextRepeat(after: settings.typing.expiry) {
            timers.remind(.room(key), at: moment)
        }
    }

    private mutating func repeatToRoom(_ key: RoomKey, at now: Instant) {
        guard let told = rooms[key]?.told else { return }
        send(to: key, before: nil, now: told)
        rooms[key]?.lastTold = now
    }

    /// - Parameter before: what was told last; what looks the same to a receiver is not sent. `nil` repeats the set to
    ///   all for whom it is not empty.
    private mutating func send(to key: RoomKey, before: [Typist]?, now: [Typist]) {
        guard let room = rooms[key] else { return }
        let involved = Set(((before ?? []) + now).map(\.user))
        var byUser: [UserID: [SessionKey]] = [:]
        var others: [SessionKey] = []
        for session in room.sessions {
            if let user = sessions[session]?.user, involved.contains(user) {
                byUser[user, default: []].append(session)
            } else {
                others.append(session)
            }
        }
        sendVariant(for: nil, to: others, of: room, before: before, now: now)
        for (user, receivers) in byUser.sorted(by: { $0.key < $1.key }) {
            sendVariant(for: user, to: receivers, of: room, before: before, now: now)
        }
    }

    private mutating func sendVariant(
        for user: UserID?, to receivers: [SessionKey], of room: Room, before: [Typist]?, now: [Typist]
    ) {
        guard !receivers.isEmpty else { return }
        let names = settings.typing.names
        let message = ServerMessage.typing(in: room.conversation, of: now, but: user, names: names)
        if let before {
            let told = ServerMessage.typing(in: room.conversation, of: before, but: user, names: names)
            guard message != told else { return }
        } else if now.allSatisfy({ $0.user == user }) {
            return
        }
        actions.append(.send(message, to: receivers))
    }
}
