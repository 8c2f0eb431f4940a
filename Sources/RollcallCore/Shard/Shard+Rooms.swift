// Conversations: published typing and member changes, reads, and the rooms that sessions join.

package import RollcallModel

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
        room.sessions.remove(session)
        room.pendingJoins.remove(session)
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
        let users = room.sessions.keys.compactMap { $0.user }
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
