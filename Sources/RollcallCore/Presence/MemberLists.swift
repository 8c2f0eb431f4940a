// Member lists, for sessions that joined with presence: they are sent the members, and watch each member on the list.
// In a very large conversation, the list has as many members as a session may watch users.

internal import RollcallProtocol

extension Shard {
    /// Adds a session to those that follow the room's members, which are known.
    func watchMembers(of room: Room, for session: Session) {
        guard room.showsMembers(to: session) else { return }
        fanOut.enqueue(
            [.members(room)] + room.shownMembers.map { .user(addWatcher(session, of: $0)) }, for: session)
    }

    /// Sends the members to a session that already follows them: the list, then the presence of each member, including
    /// those that the session also watches for another reason.
    func enqueueMembers(of room: Room, to session: Session) {
        fanOut.enqueue([.members(room)] + room.shownMembers.compactMap { watches[$0].map { .user($0) } }, for: session)
    }

    func unwatchMembers(of room: Room, for session: Session) {
        guard room.unwatchesMembers(session) else { return }
        fanOut.cancel(.members(room), for: session)
        for member in room.shownMembers { removeWatcher(session, of: member) }
    }

    /// Sends the member changes of each room: at once or, in a large room, once the last message is old enough.
    func sendMemberChanges(at now: Instant) {
        for room in fanOut.members.take(settings.bounds.tellBatch) where !room.isOver && !room.presenceSessions.isEmpty
        {
            let moment = room.mayTellMembers(at: now, settings: settings.typing)
            if moment > now {
                timers.remind(.members(room), at: moment)
            } else {
                sendMemberChanges(of: room, at: now)
            }
        }
    }

    func sendMembers(of room: Room, to session: Session) {
        guard !room.isOver, let members = room.toldMembers else { return }
        deliver(.members(members), to: CollectionOfOne(session), counting: false)
    }

    /// Sends the list before the presence of its new members, so that sessions get no presence of unknown users.
    private func sendMemberChanges(of room: Room, at now: Instant) {
        guard let told = room.toldMembers, let members = room.membersMessage, members != told else { return }
        room.told(members, at: now)
        let sessions = room.presenceSessions.elements
        send(.members(members), of: .members(room), to: sessions)
        let (before, after) = (Set(told.users.map(\.user)), Set(members.users.map(\.user)))
        let (new, gone) = (after.subtracting(before).sorted(), before.subtracting(after).sorted())
        for session in sessions {
            fanOut.enqueue(new.map { .user(addWatcher(session, of: $0)) }, for: session)
            for member in gone { removeWatcher(session, of: member) }
        }
    }

    /// Reads more members of a very large conversation, of which only some are known and some of those were removed.
    func readMoreMembers(of room: Room) {
        let most = settings.limits.watchedUsers
        guard redis.answersReads, !room.isOver, room.members.hasFew(of: most) else { return }
        read(RoomRead(conversation: room.conversation, users: [], withTyping: false, mostMembers: most), for: room)
    }
}
