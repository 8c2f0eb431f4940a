// Who belongs to a conversation, for the sessions that joined it with presence: they are told the members, and watch
// each member that they were told of. Of a very large conversation they are told so many as a session may watch users.

internal import RollcallModel

extension Shard {
    /// Has a session that is in the room follow its members, which are known. Their lookups are charged to its user.
    mutating func watchMembers(of key: RoomKey, for session: SessionKey, at now: Instant) {
        let members = membersMessage(of: key)
        if rooms[key]?.presenceSessions.isEmpty == true { rooms[key]?.toldMembers = members }
        guard rooms[key]?.presenceSessions.insert(session) == true else { return }
        let shown = rooms[key]?.shownMembers ?? []
        let known = watches.count
        owe([.members(key)] + shown.map { .user(addWatcher(session, of: $0)) }, to: session)
        charge(LookupBudgets.cost(of: shown.count, added: watches.count - known), to: session, at: now)
    }

    /// Members whom a session asked for, and who waited until its user had credit, are shown to it.
    mutating func showWaitingMembers(to session: SessionKey, at now: Instant) {
        for room in sessions[session]?.joined ?? [] where rooms[room]?.lobby[session]?.awaitsCredit == true {
            guard mayShowMembers(to: session, at: now) else { return }
            guard let waiting = rooms[room]?.lobby.remove(session) else { continue }
            admit(waiting, to: room, at: now)
        }
    }

    /// Whether a session's user has credit for more lookups; if not, the session is reminded of it.
    mutating func mayShowMembers(to session: SessionKey, at now: Instant) -> Bool {
        guard let user = sessions.read(session, { $0.user }) ?? nil, let next = lookups.nextLookup(by: user, at: now)
        else { return true }
        timers.remind(.lookups(session), at: next)
        return false
    }

    private mutating func charge(_ cost: Int, to session: SessionKey, at now: Instant) {
        if let user = sessions.read(session, { $0.user }) ?? nil { lookups.charge(cost, to: user, at: now) }
    }

    /// The session asked for the members again, or for the first time: their presence follows the list, also that of
    /// those whom it watches for another reason.
    mutating func oweMembers(of key: RoomKey, to session: SessionKey, at now: Instant) {
        let shown = rooms[key]?.shownMembers ?? []
        charge(LookupBudgets.cost(of: shown.count, added: 0), to: session, at: now)
        owe([.members(key)] + shown.compactMap { watchKeys[$0].map { .user($0) } }, to: session)
    }

    mutating func unwatchMembers(of key: RoomKey, for session: SessionKey) {
        guard rooms[key]?.presenceSessions.remove(session) == true else { return }
        forgive(.members(key), to: session)
        for member in rooms[key]?.shownMembers ?? [] { removeWatcher(session, of: member) }
    }

    mutating func membersChanged(_ key: RoomKey) {
        changedMembers.insert(key)
    }

    /// Tells what changed of the members of each room: at once, or in a large one when the last message is old enough.
    mutating func tellMembers(at now: Instant) {
        for key in changedMembers.take(settings.bounds.tellBatch) {
            guard let room = rooms[key], !room.presenceSessions.isEmpty else { continue }
            let moment = room.mayTellMembers(at: now, settings: settings.typing)
            if moment > now {
                timers.remind(.members(key), at: moment)
            } else {
                tellMembers(of: key, at: now)
            }
        }
    }

    mutating func sendMembers(of key: RoomKey, to session: SessionKey) {
        guard let members = rooms[key]?.toldMembers else { return }
        actions.append(.sendSnapshot(.members(members), to: session))
    }

    /// The list goes out before the presence of those who are new on it, so that nobody hears of strangers.
    private mutating func tellMembers(of key: RoomKey, at now: Instant) {
        guard let room = rooms[key], let told = room.toldMembers, let members = membersMessage(of: key),
            members != told
        else { return }
        rooms[key]?.toldMembers = members
        rooms[key]?.lastToldMembers = now
        let sessions = room.presenceSessions.keys
        tell(.members(members), of: .members(key), to: sessions)
        let (before, after) = (Set(room.shownMembers), Set(members.users.map(\.user)))
        let (new, gone) = (after.subtracting(before).sorted(), before.subtracting(after).sorted())
        for session in sessions {
            owe(new.map { .user(addWatcher(session, of: $0)) }, to: session)
            for member in gone { removeWatcher(session, of: member) }
        }
    }

    private func membersMessage(of key: RoomKey) -> ServerMessage.Members? {
        guard let room = rooms[key], let names = room.members.names else { return nil }
        return ServerMessage.Members(
            conversation: room.conversation, users: names.keys.sorted().map { .init(user: $0, name: names[$0]) },
            count: room.members.count)
    }

    /// Of a very large conversation only some members are known, and some of those went.
    mutating func readMoreMembers(of key: RoomKey) {
        let most = settings.limits.watchedUsers
        guard answersReads, let room = rooms[key], room.members.hasFew(of: most),
            let user = room.presenceSessions.keys.first.flatMap({ sessions[$0]?.user })
        else { return }
        read(
            RoomRead(conversation: room.conversation, user: user, withTyping: false, mostMembers: most), for: key)
    }
}
