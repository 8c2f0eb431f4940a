// Member lists, for sessions that joined with presence: they are sent the members, and watch each member on the list.
// In a very large conversation, the list has as many members as a session may watch users.

internal import RollcallProtocol

/// Owns what sessions were sent of the members of each room, and the rooms whose members have changed since.
final class MemberLists {
    private let loop: Loop
    private let outbound: Outbound
    private let watches: Watches
    /// Rooms whose members have changed.
    private var changes = ChangeQueue<Room>()

    init(_ loop: Loop, _ outbound: Outbound, _ watches: Watches) {
        (self.loop, self.outbound, self.watches) = (loop, outbound, watches)
    }

    /// Rooms with changes that were not sent yet.
    var changeCount: Int { changes.count }

    /// Sends what the room's members are now, if that differs from what was sent.
    func queue(_ room: Room) { changes.insert(room) }

    /// Adds a session to those that follow the room's members, which are known.
    func watch(_ room: Room, for session: Session) {
        guard room.members.followed(by: session, in: room.conversation) else { return }
        let isShared = isShared(room)
        outbound.enqueue(
            [.members(room)]
                + room.members.shownUsers.map { .user(watches.add(session, of: $0, isShared: isShared)) },
            for: session)
    }

    /// Sends the members to a session that already follows them: the list, then the presence of each member, including
    /// those that the session also watches for another reason.
    func showAgain(_ room: Room, to session: Session) {
        outbound.enqueue(
            [.members(room)] + room.members.shownUsers.compactMap { watches.watched($0).map { .user($0) } },
            for: session)
    }

    func unwatch(_ room: Room, for session: Session) {
        guard room.members.unfollowed(by: session) else { return }
        outbound.cancel(.members(room), for: session)
        let isShared = isShared(room)
        for member in room.members.shownUsers { watches.remove(session, of: member, isShared: isShared) }
    }

    /// Whether those on the list, as it was sent, may see one another.
    private func isShared(_ room: Room) -> Bool {
        room.members.shown.map { max($0.count, room.members.shownPeople.count) <= loop.settings.sharedMembers } ?? false
    }

    /// Sends the member changes of each room: at once or, in a large room, once the last message is old enough.
    func sendChanges(at now: Instant) {
        for room in changes.take(loop.settings.bounds.tellBatch) where !room.isOver && !room.members.followers.isEmpty {
            guard !outbound.isTickFull else {
                changes.insert(room)
                continue
            }
            let moment = room.members.mayTell(at: now, settings: loop.settings.typing)
            if moment > now {
                loop.remind(.members(room), at: moment)
            } else {
                sendChanges(of: room, at: now)
            }
        }
    }

    /// Sends the list before the presence of its new members, so that sessions get no presence of unknown users.
    private func sendChanges(of room: Room, at now: Instant) {
        guard let told = room.members.shown, let members = room.members.message(of: room.conversation),
            members != told || room.members.people != room.members.shownPeople
        else { return }
        let (wasShared, before) = (isShared(room), Set(room.members.shownUsers))
        room.members.told(members, at: now)
        let (isShared, after) = (isShared(room), Set(room.members.shownUsers))
        let sessions = room.members.followers.elements
        if members != told { outbound.send(.members(members), of: .members(room), to: sessions) }
        let (new, gone) = (after.subtracting(before).sorted(), before.subtracting(after).sorted())
        let kept = wasShared == isShared ? [] : before.intersection(after).sorted()
        for session in sessions {
            outbound.enqueue(
                new.map { .user(watches.add(session, of: $0, isShared: isShared)) }, for: session)
            for member in gone { watches.remove(session, of: member, isShared: wasShared) }
            for member in kept { watches.shares(isShared, member, with: session) }
        }
    }
}

// MARK: The members of a room

/// The members of a room, the sessions that follow them, and what these were last sent.
struct ShownMembers {
    var known = MemberSet()
    /// Whom an app's server named as the people of a conversation without members: the sessions watch them, and are not told.
    var people: [UserID] = []
    private(set) var shownPeople: [UserID] = []
    /// Sessions that also watch the members.
    private(set) var followers = IndexedSet<Session>()
    /// The members last sent to these sessions, and when; the sessions watch the users it names. `nil` before the
    /// first.
    private(set) var shown: ServerMessage.Members?
    private var lastTold: Instant?

    /// How many members are known by name.
    var namedCount: Int { (known.names?.count ?? 0) + people.count }
    var shownUsers: [UserID] { (shown?.users.map(\.user) ?? []) + shownPeople }

    /// The members as a message; `nil` until they are known.
    func message(of conversation: ConversationID) -> ServerMessage.Members? {
        known.names.map { names in
            ServerMessage.Members(
                conversation: conversation, users: names.keys.sorted().map { .init(user: $0, name: names[$0]) },
                count: known.count)
        }
    }

    /// Adds a session to those that follow the members, which are known.
    ///
    /// - Returns: false if it followed them before.
    mutating func followed(by session: Session, in conversation: ConversationID) -> Bool {
        if followers.isEmpty { (shown, shownPeople) = (message(of: conversation), people) }
        return followers.insert(session)
    }

    /// - Returns: whether the session followed the members until now.
    mutating func unfollowed(by session: Session) -> Bool { followers.remove(session) }

    mutating func told(_ members: ServerMessage.Members, at now: Instant) {
        (shown, shownPeople, lastTold) = (members, people, now)
    }

    /// When a change of the members may be sent: at once or, if there are many, once ``ShardSettings/Typing/coalesce``
    /// has passed since the last message.
    func mayTell(at now: Instant, settings: ShardSettings.Typing) -> Instant {
        guard let lastTold, namedCount > settings.names else { return now }
        return max(now, lastTold + settings.coalesce)
    }
}
