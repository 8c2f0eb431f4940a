// Sends typing to the sessions of a room: each change to the sessions whose view it changes, and repeats before clients
// let the typing expire.

internal import RollcallModel

extension Shard {
    func sendTyping(at now: Instant) {
        for key in fanOut.typing.take(settings.bounds.tellBatch) {
            // A change that was delayed may name typing that has ended by now, or a room that has closed.
            rooms.changeIfPresent(key) { $0.typists.timePassed(at: now) }
            guard let moment = rooms.read(key, { $0.mayTell(at: now, settings: settings.typing) }) else {
                continue
            }
            if moment > now {
                timers.remind(.room(key), at: moment)
            } else {
                sendTyping(of: key, at: now)
            }
            if let change = rooms.read(key, { $0.typists.nextChange }) ?? nil { timers.remind(.room(key), at: change) }
        }
    }

    /// Handles a typist's expiry, a delayed change or a repeat that is due.
    func roomDue(_ key: RoomKey, at now: Instant) {
        // Reminders of a room that has closed still come up.
        rooms.changeIfPresent(key) { $0.typists.timePassed(at: now) }
        roomChanged(key)
        // If the typists changed, the end of the tick sends the new state, so the old one is not repeated first.
        guard rooms.read(key, { $0.typists.typists == $0.told }) == true else { return }
        let moment = rooms.read(key) { $0.nextRepeat(after: settings.typing.expiry) } ?? nil
        if let moment, moment <= now { repeatToRoom(key, at: now) }
        remindOfRepeat(key)
    }

    func roomChanged(_ key: RoomKey) {
        fanOut.typing.insert(key)
    }

    func sendSnapshot(of key: RoomKey, to session: SessionKey) {
        guard let room = rooms[key] else { return }
        let message = ServerMessage.typing(
            in: room.conversation, of: room.told, but: sessions[session]?.user, names: settings.typing.names)
        actions.append(.sendSnapshot(message, to: session))
    }

    /// Sends each session what changed for it since the last message. Users do not see their own typing, so the
    /// sessions of users who type or typed get separate messages.
    private func sendTyping(of key: RoomKey, at now: Instant) {
        guard rooms.read(key, { $0.phase == .live || !$0.sessions.isEmpty }) == true,
            let typists = rooms.read(key, { $0.typists.typists }), let told = rooms.read(key, { $0.told })
        else { return }
        let changed = rooms.change(key) { $0.changeTold() } ?? nil
        guard typists != told else { return remindOfRepeat(key) }
        let isToldToAll = send(to: key, before: told, now: typists) || told.isEmpty
        if let changed, rooms.read(key, { $0.sessions.isEmpty }) == false {
            tally.typingDelivered(changed, at: redis.time(at: now))
        }
        noteTold(typists, in: key, toAll: isToldToAll, at: now)
    }

    /// Notes what the sessions in the room have been sent.
    ///
    /// - Parameter toAll: whether it was sent to every session, so that no session relies on an earlier message that
    ///   must be repeated sooner.
    func noteTold(_ typists: [Typist], in key: RoomKey, toAll: Bool, at now: Instant) {
        fanOut.typistCount += typists.count - (rooms.read(key) { $0.told.count } ?? 0)
        rooms.change(key) { room in
            room.told = typists
            room.lastTold = now
            if toAll { room.lastToldAll = now }
        }
        remindOfRepeat(key)
    }

    func remindOfRepeat(_ key: RoomKey) {
        if let moment = rooms.read(key, { $0.nextRepeat(after: settings.typing.expiry) }) ?? nil {
            timers.remind(.room(key), at: moment)
        }
    }

    private func repeatToRoom(_ key: RoomKey, at now: Instant) {
        guard let told = rooms.read(key, { $0.told }) else { return }
        _ = send(to: key, before: nil, now: told)
        rooms.change(key) { ($0.lastTold, $0.lastToldAll) = (now, now) }
    }

    /// - Parameter before: the typists sent last; a receiver whose view is unchanged gets no message. `nil` repeats the
    ///   typists to every session for which they are not empty.
    /// - Returns: whether every session for which the typists are not empty was sent a message.
    private func send(to key: RoomKey, before: [Typist]?, now: [Typist]) -> Bool {
        guard let present = rooms.read(key, { $0.sessions }) else { return true }
        var groups: [(view: TypistView, sessions: [SessionKey])] = []
        for view in TypistView.all(before: before ?? [], now: now, names: settings.typing.names) {
            let sessions = sessions.keys(of: view.user).filter(present.contains)
            guard !sessions.isEmpty else { continue }
            if let group = groups.firstIndex(where: { $0.view.look == view.look }) {
                groups[group].sessions += sessions
            } else {
                groups.append((view, sessions))
            }
        }
        let typists = Set(groups.flatMap(\.sessions))
        let others = typists.isEmpty ? present.keys : present.keys.filter { !typists.contains($0) }
        var isToldToAll = sendVariant(for: nil, to: others, of: key, before: before, now: now)
        for (view, sessions) in groups {
            isToldToAll = sendVariant(for: view.user, to: sessions, of: key, before: before, now: now) && isToldToAll
        }
        return isToldToAll
    }

    private func sendVariant(
        for user: UserID?, to receivers: [SessionKey], of key: RoomKey, before: [Typist]?, now: [Typist]
    ) -> Bool {
        guard !receivers.isEmpty, let conversation = rooms.read(key, { $0.conversation }) else { return true }
        let names = settings.typing.names
        let message = ServerMessage.typing(in: conversation, of: now, but: user, names: names)
        if let before {
            let told = ServerMessage.typing(in: conversation, of: before, but: user, names: names)
            guard message != told else { return now.allSatisfy { $0.user == user } }
        } else if now.allSatisfy({ $0.user == user }) {
            return true
        }
        send(message, of: .room(key), to: receivers)
        return true
    }
}
