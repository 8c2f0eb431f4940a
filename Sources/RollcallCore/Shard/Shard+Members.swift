// Member lists, for sessions that joined with presence: they are sent the members, and watch each member on the list.
// In a very large conversation, the list has as many members as a session may watch users.

internal import RollcallModel

extension Shard {
    /// Adds a session to those that follow the room's members, which are known.
    func watchMembers(of key: RoomKey, for session: SessionKey) {
        let members = membersMessage(of: key)
        let isNew = rooms.change(key) { room in
            if room.presenceSessions.isEmpty { room.toldMembers = members }
            return room.presenceSessions.insert(session)
        }
        guard isNew == true else { return }
        let shown = rooms[key]?.shownMembers ?? []
        fanOut.enqueue([.members(key)] + shown.map { .user(addWatcher(session, of: $0)) }, for: session)
    }

    /// Sends the members to a session that already follows them: the list, then the presence of each member, including
    /// those that the session also watches for another reason.
    func enqueueMembers(of key: RoomKey, to session: SessionKey) {
        let shown = rooms[key]?.shownMembers ?? []
        fanOut.enqueue([.members(key)] + shown.compactMap { watches[$0].map { .user($0) } }, for: session)
    }

    func unwatchMembers(of key: RoomKey, for session: SessionKey) {
        guard rooms.change(key, { $0.presenceSessions.remove(session) }) == true else { return }
        fanOut.cancel(.members(key), for: session)
        for member in rooms[key]?.shownMembers ?? [] { removeWatcher(session, of: member) }
    }

    func membersChanged(_ key: RoomKey) {
        fanOut.members.insert(key)
    }

    /// Sends the member changes of each room: at once or, in a large room, once the last message is old enough.
    func sendMemberChanges(at now: Instant) {
        for key in fanOut.members.take(settings.bounds.tellBatch) {
            guard let room = rooms[key], !room.presenceSessions.isEmpty else { continue }
            let moment = room.mayTellMembers(at: now, settings: settings.typing)
            if moment > now {
                timers.remind(.members(key), at: moment)
            } else {
                sendMemberChanges(of: key, at: now)
            }
        }
    }

    func sendMembers(of key: RoomKey, to session: SessionKey) {
        guard let members = rooms[key]?.toldMembers else { return }
        actions.append(.sendSnapshot(.members(members), to: session))
    }

    /// Sends the list before the presence of its new members, so that sessions get no presence of unknown users.
    private func sendMemberChanges(of key: RoomKey, at now: Instant) {
        guard let room = rooms[key], let told = room.toldMembers, let members = membersMessage(of: key),
            members != told
        else { return }
        rooms.change(key) { ($0.toldMembers, $0.lastToldMembers) = (members, now) }
        let sessions = room.presenceSessions.keys
        send(.members(members), of: .members(key), to: sessions)
        let (before, after) = (Set(room.shownMembers), Set(members.users.map(\.user)))
        let (new, gone) = (after.subtracting(before).sorted(), before.subtracting(after).sorted())
        for session in sessions {
            fanOut.enqueue(new.map { .user(addWatcher(session, of: $0)) }, for: session)
            for member in gone { removeWatcher(session, of: member) }
        }
    }

    private func membersMessage(of key: RoomKey) -> ServerMessage.Members? {
        guard let room = rooms[key], let names = room.members.names else { return nil }
        return ServerMessage.Members(
            conversation: room.conversation, users: names.keys.sorted().map { .init(user: $0, name: names[$0]) },
            count: room.members.count)
    }

    /// Reads more members of a very large conversation, of which only some are known and some of those were removed.
    func readMoreMembers(of key: RoomKey) {
        let most = settings.limits.watchedUsers
        guard redis.answersReads, let room = rooms[key], room.members.hasFew(of: most) else { return }
        read(RoomRead(conversation: room.conversation, users: [], withTyping: false, mostMembers: most), for: key)
    }
}
