// Telling those who look who types: what changed, to whom it looks different, and again before they distrust silence.

internal import RollcallModel

extension Shard {
    mutating func tellRooms(at now: Instant) {
        for key in changedRooms.take(ShardSettings.tellBatch) {
            // What was long on its way may tell of typing that is over by now.
            rooms[key]?.typists.expired(at: now)
            guard let room = rooms[key] else { continue }
            let moment = room.mayTell(at: now, settings: settings.typing)
            if moment > now {
                timers.remind(.room(key), at: moment)
            } else {
                tell(key, at: now)
            }
            if let expiry = room.typists.nextExpiry { timers.remind(.room(key), at: expiry) }
        }
    }

    /// A typist's expiry, a held-back change or a repeat may be due.
    mutating func roomDue(_ key: RoomKey, at now: Instant) {
        rooms[key]?.typists.expired(at: now)
        roomChanged(key)
        // A set that changed is told as it is now when the tick ends, and not first as it was.
        guard let room = rooms[key], room.typists.typists == room.told else { return }
        if let moment = room.nextRepeat(after: settings.typing.expiry), moment <= now { repeatToRoom(key, at: now) }
        remindOfRepeat(key)
    }

    mutating func roomChanged(_ key: RoomKey) {
        changedRooms.insert(key)
    }

    mutating func sendSnapshot(of key: RoomKey, to session: SessionKey) {
        guard let room = rooms[key] else { return }
        let message = ServerMessage.typing(
            in: room.conversation, of: room.told, but: sessions[session]?.user, names: settings.typing.names)
        actions.append(.sendSnapshot(message, to: session))
    }

    /// Tells each session what changed for it since it was last told. Sessions of those who type, or did, do not see
    /// themselves, so that they have messages of their own.
    private mutating func tell(_ key: RoomKey, at now: Instant) {
        guard let room = rooms[key], room.phase == .live || !room.sessions.isEmpty else { return }
        let typists = room.typists.typists
        let changed = rooms[key]?.changeTold()
        guard typists != room.told else { return remindOfRepeat(key) }
        send(to: key, before: room.told, now: typists)
        if let changed, !room.sessions.isEmpty { tally.typingDelivered(changed, at: redisTime(at: now)) }
        noteTold(typists, in: key, at: now)
    }

    /// From now on this is what sessions in the room know.
    mutating func noteTold(_ typists: [Typist], in key: RoomKey, at now: Instant) {
        typistCount += typists.count - (rooms[key]?.told.count ?? 0)
        rooms[key]?.told = typists
        rooms[key]?.lastTold = now
        remindOfRepeat(key)
    }

    mutating func remindOfRepeat(_ key: RoomKey) {
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
        let views = TypistViews(before: before ?? [], now: now, names: settings.typing.names)
        var typing: [TypistViews.View: (user: UserID, sessions: [SessionKey])] = [:]
        var typists: Set<SessionKey> = []
        for user in views.users {
            let sessions = (sessionsOfUser[user] ?? []).filter { room.sessions.contains($0) }
            guard !sessions.isEmpty else { continue }
            typing[views[user], default: (user, [])].sessions += sessions
            typists.formUnion(sessions)
        }
        let others = typists.isEmpty ? room.sessions.keys : room.sessions.keys.filter { !typists.contains($0) }
        sendVariant(for: nil, to: others, of: key, before: before, now: now)
        for (user, sessions) in typing.values.sorted(by: { $0.user < $1.user }) {
            sendVariant(for: user, to: sessions, of: key, before: before, now: now)
        }
    }

    private mutating func sendVariant(
        for user: UserID?, to receivers: [SessionKey], of key: RoomKey, before: [Typist]?, now: [Typist]
    ) {
        guard !receivers.isEmpty, let room = rooms[key] else { return }
        let names = settings.typing.names
        let message = ServerMessage.typing(in: room.conversation, of: now, but: user, names: names)
        if let before {
            let told = ServerMessage.typing(in: room.conversation, of: before, but: user, names: names)
            guard message != told else { return }
        } else if now.allSatisfy({ $0.user == user }) {
            return
        }
        tell(message, of: .room(key), to: receivers)
    }
}
