// Conversations: published typing and member changes, reads, and the rooms that sessions join.

package import RollcallModel

extension Shard {
    /// Handles a published typing change.
    package func typingChanged(_ change: TypingChange, in conversation: ConversationID, at now: Instant) {
        guard let key = rooms.key(of: conversation) else { return }
        rooms.change(key) { [clock = redis.clock] in $0.changed(change, clock: clock, at: now) }
        roomChanged(key)
    }

    /// Handles a published typing change that only a later version can parse: reads the conversation instead.
    package func typingUnreadable(in conversation: ConversationID) {
        if let key = rooms.key(of: conversation) { reads.insert(key) }
    }

    /// Handles a published member change: added, renamed, removed, or all replaced.
    package func memberChanged(
        _ change: MemberChange, in conversation: ConversationID, at now: Instant
    ) -> [ShardAction] {
        guard let key = rooms.key(of: conversation) else { return [] }
        switch change {
        case .member(let user, let name, let count):
            rooms.change(key) {
                $0.typists.renamed(user, to: name)
                $0.members.changed(user, to: name, count: count)
            }
        case .removed(let user, let count):
            rooms.change(key) {
                $0.typists.removed(user)
                $0.members.changed(user, to: nil, count: count)
            }
            putOut(sessions.keys(of: user), of: key)
            readMoreMembers(of: key)
        case .reset:
            readRoomAgain(key)
        }
        roomChanged(key)
        membersChanged(key)
        return take()
    }

    /// Handles the result of a conversation read.
    package func roomRead(
        _ read: RoomRead, _ snapshot: RoomSnapshot, for key: RoomKey, at now: Instant
    ) -> [ShardAction] {
        if rooms[key] != nil { snapshotRead(snapshot, of: read, in: key, at: now) }
        return take()
    }

    private func snapshotRead(_ snapshot: RoomSnapshot, of read: RoomRead, in key: RoomKey, at now: Instant) {
        if read.withTyping { typistsRead(snapshot, in: key, at: now) }
        if read.mostMembers > 0 { membersRead(snapshot, in: key) }
        rooms.change(key) { $0.isManaged = snapshot.isManaged }
        for user in read.users {
            let all = sessions.keys(of: user)
            guard !snapshot.isManaged else {
                if snapshot.admitted.contains(user) {
                    admitWaiting(all, to: key, at: now)
                } else {
                    putOut(all, of: key)
                }
                continue
            }
            guard let conversation = rooms[key]?.conversation else { return }
            let isOpen = all.map { sessions.read($0) { $0.right.opens(conversation) } == true }
            admitWaiting(zip(all, isOpen).filter(\.1).map(\.0), to: key, at: now)
            putOut(zip(all, isOpen).filter { !$1 }.map(\.0), of: key)
        }
        readForWaiting(key)
        roomChanged(key)
    }

    /// Handles a failed read of a conversation; the next heartbeat retries it.
    package func roomReadFailed(_ read: RoomRead, for key: RoomKey) {
        // The room may have closed during the read.
        rooms.changeIfPresent(key) { room in
            if read.withTyping { room.typists.readFailed() }
            if read.mostMembers > 0 { room.members.readFailed() }
            room.isIncomplete = true
            if room.phase == .live { room.phase = .reading }
            for waiting in read.users.flatMap(room.pendingJoins.of) { room.pendingJoins.readAgain(waiting.session) }
        }
    }

    /// Removes a session from a room. The room closes with its last session.
    func depart(_ key: SessionKey, from room: RoomKey) {
        rooms.change(room) {
            $0.sessions.remove(key)
            $0.pendingJoins.remove(key)
        }
        fanOut.cancel(.room(room), for: key)
        unwatchMembers(of: room, for: key)
        closeIfDeserted(room)
    }

    /// Has a session's right to join judged again, after it was narrowed: where the conversation has members, they decide
    /// as before. A room that is not live is read anyway.
    func rightNarrowed(of session: SessionKey, user: UserID) {
        for key in sessions.read(session, { $0.joined }) ?? [] {
            guard redis.answersReads, let room = rooms[key], room.phase == .live, !room.isManaged,
                sessions.read(session, { $0.right.opens(room.conversation) }) == false
            else { continue }
            let users = [user]
            read(RoomRead(conversation: room.conversation, users: users, withTyping: false, mostMembers: 0), for: key)
        }
    }

    func roomSubscribed(_ key: RoomKey, _ topic: Topic) {
        guard case .subscribing(var missing) = rooms[key]?.phase else { return }
        missing.remove(topic)
        rooms.change(key) { $0.phase = missing.isEmpty ? .reading : .subscribing(missing: missing) }
        if missing.isEmpty { readRoomAgain(key) }
    }

    /// Reads the typists, and the membership of each user who has joined or waits to join.
    func readRoomAgain(_ key: RoomKey) {
        guard redis.answersReads, let room = rooms[key], room.phase == .reading || room.phase == .live else { return }
        rooms.change(key) { $0.isIncomplete = false }
        let users = Set(room.sessions.keys.compactMap { sessions[$0]?.user }).union(room.pendingJoins.users).sorted()
        let wantsMembers = !room.presenceSessions.isEmpty || room.pendingJoins.wantsMembers
        if !wantsMembers { rooms.change(key) { $0.members.forget() } }
        read(
            RoomRead(
                conversation: room.conversation, users: users, withTyping: true,
                mostMembers: wantsMembers ? settings.limits.watchedUsers : 0),
            for: key)
        rooms.change(key) { _ = $0.pendingJoins.takeUnread() }
    }

    /// Requests the reads of typists that are due. Rooms whose channels are not confirmed are read on confirmation,
    /// and all rooms are read when Redis is back.
    func readUnclearRooms() {
        for key in reads.takeRooms() where redis.answersReads {
            guard let room = rooms[key], room.phase == .reading || room.phase == .live else { continue }
            read(RoomRead(conversation: room.conversation, users: [], withTyping: true, mostMembers: 0), for: key)
        }
    }

    func retryRoomReads() {
        for key in rooms.keys {
            guard let room = rooms[key] else { continue }
            if room.phase == .reading || room.isIncomplete, !room.typists.isReading {
                readRoomAgain(key)
            } else {
                readForWaiting(key)
            }
        }
    }

    func openRoom(_ conversation: ConversationID) -> RoomKey {
        let room = Room(conversation: conversation, settings: settings.typing)
        let key = rooms.insert(room)
        for topic in room.topics { actions.append(.subscribe(topic)) }
        return key
    }

    func closeIfDeserted(_ key: RoomKey) {
        guard let room = rooms[key], room.isDeserted else { return }
        for topic in room.topics { actions.append(.unsubscribe(topic)) }
        fanOut.typistCount -= room.told.count
        rooms.remove(key)
    }

    func read(_ read: RoomRead, for key: RoomKey) {
        rooms.change(key) {
            if read.withTyping { $0.typists.readBegan() }
            if read.mostMembers > 0 { $0.members.readBegan() }
        }
        actions.append(.store(.readRoom(.init(read: read, key: key))))
    }

    private func typistsRead(_ snapshot: RoomSnapshot, in key: RoomKey, at now: Instant) {
        rooms.change(key) { [clock = redis.clock] in
            $0.typists.snapshotRead(snapshot, clock: clock, at: now)
            // A read from before the channels were lost does not make the room live: another follows their
            // confirmation.
            if $0.phase == .reading { $0.phase = .live }
        }
        // No session here has been sent anything yet: new sessions get the snapshot and its repeats.
        guard let room = rooms[key], room.sessions.isEmpty else { return }
        noteTold(room.typists.typists, in: key, toAll: true, at: now)
    }

    private func membersRead(_ snapshot: RoomSnapshot, in key: RoomKey) {
        let most = settings.limits.watchedUsers
        rooms.change(key) {
            $0.members.snapshotRead(snapshot.members ?? [:], count: snapshot.memberCount, most: most)
        }
        membersChanged(key)
    }

    /// Handles sessions that may not be in the conversation, or no longer: refuses those that wait, notifies the others
    /// and removes them. Redis ended their typing together with a membership. A signal may have arrived in Redis after
    /// the user became a member again, and where there are no members Redis ends nothing; that typing is stopped here.
    private func putOut(_ all: [SessionKey], of key: RoomKey) {
        refuseWaiting(all, in: key)
        guard let conversation = rooms[key]?.conversation else { return }
        let removed = all.filter { rooms[key]?.sessions.contains($0) == true }
        guard !removed.isEmpty else { return }
        for session in removed {
            // A join whose snapshot still waits has already taken effect.
            fanOut.cancel(.room(key), for: session)
            sendDueAcks(to: session)
        }
        actions.append(.send(.removed(conversation), to: removed))
        for session in removed {
            stopTyping(session, in: key)
            sessions.change(session) { $0.left(key) }
            depart(session, from: key)
        }
    }
}
