// Telling those who look who types: what changed, to whom it looks different, and again before they distrust silence.

internal import RollcallModel

extension Shard {
    mutating func tellRooms(at now: Instant) {
        for key in changedRooms.take(ShardSettings.tellBatch) {
            // What was long on its way may tell of typing that is over by now.
            rooms[key]?.typists.expired(at: now)
            guard let moment = rooms.read(key, { $0.mayTell(at: now, settings: settings.typing) }) else {
                continue
            }
            if moment > now {
                timers.remind(.room(key), at: moment)
            } else {
                tell(key, at: now)
            }
            if let expiry = rooms.read(key, { $0.typists.nextExpiry }) ?? nil { timers.remind(.room(key), at: expiry) }
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
        guard rooms.read(key, { $0.phase == .live || !$0.sessions.isEmpty }) == true,
            let typists = rooms.read(key, { $0.typists.typists }), let told = rooms.read(key, { $0.told })
        else { return }
        let changed = rooms[key]?.changeTold()
        guard typists != told else { return remindOfRepeat(key) }
        send(to: key, before: told, now: typists)
        if let changed, rooms.read(key, { $0.sessions.isEmpty }) == false {
            tally.typingDelivered(changed, at: redisTime(at: now))
        }
        noteTold(typists, in: key, at: now)
    }

    /// From now on this is what sessions in the room know.
    mutating func noteTold(_ typists: [Typist], in key: RoomKey, at now: Instant) {
        typistCount += typists.count - (rooms.read(key) { $0.told.count } ?? 0)
        rooms[key]?.told = typists
        rooms[key]?.lastTold = now
        remindOfRepeat(key)
    }

    mutating func remindOfRepeat(_ key: RoomKey) {
        if let moment = rooms.read(key, { $0.nextRepeat(after: settings.typing.expiry) }) ?? nil {
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
        guard let present = rooms.read(key, { $0.sessions }) else { return }
        var groups: [(view: TypistView, sessions: [SessionKey])] = []
        for view in TypistView.all(before: before ?? [], now: now, names: settings.typing.names) {
            let sessions = (sessionsOfUser[view.user] ?? []).filter(present.contains)
            guard !sessions.isEmpty else { continue }
            if let group = groups.firstIndex(where: { $0.view.look == view.look }) {
                groups[group].sessions += sessions
            } else {
                groups.append((view, sessions))
            }
        }
        let typists = Set(groups.flatMap(\.sessions))
        let others = typists.isEmpty ? present.keys : present.keys.filter { !typists.contains($0) }
        sendVariant(for: nil, to: others, of: key, before: before, now: now)
        for (view, sessions) in groups {
            sendVariant(for: view.user, to: sessions, of: key, before: before, now: now)
        }
    }

    private mutating func sendVariant(
        for user: UserID?, to receivers: [SessionKey], of key: RoomKey, before: [Typist]?, now: [Typist]
    ) {
        guard !receivers.isEmpty, let conversation = rooms.read(key, { $0.conversation }) else { return }
        let names = settings.typing.names
        let message = ServerMessage.typing(in: conversation, of: now, but: user, names: names)
        if let before {
            let told = ServerMessage.typing(in: conversation, of: before, but: user, names: names)
            guard message != told else { return }
        } else if now.allSatisfy({ $0.user == user }) {
            return
        }
        tell(message, of: .room(key), to: receivers)
    }
}
