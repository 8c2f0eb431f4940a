// Sends typing to the sessions of a room: each change to the sessions whose view it changes, and repeats before clients
// let the typing expire.

internal import RollcallProtocol

/// Owns what the sessions of each room were sent of its typists, and the rooms whose typists have changed since.
final class TypingFanOut {
    private let loop: Loop
    private let outbound: Outbound
    private let table: SessionTable
    /// Rooms whose typists have changed.
    private var changes = ChangeQueue<Room>()
    /// The number of typists last sent to sessions, summed over all rooms.
    private(set) var typistCount = 0

    init(_ loop: Loop, _ outbound: Outbound, _ table: SessionTable) {
        (self.loop, self.outbound, self.table) = (loop, outbound, table)
    }

    /// Rooms with changes that were not sent yet.
    var changeCount: Int { changes.count }

    /// Handles a published typing change.
    func changed(_ change: TypingChange, in room: Room, at now: Instant) {
        room.typing.typists.changed(change, clock: loop.redis.clock, at: now)
        room.typing.changedAt = room.typing.changedAt ?? change.at
        changes.insert(room)
    }

    /// Sends what the room's typists are now, if that differs from what was sent.
    func queue(_ room: Room) { changes.insert(room) }

    /// The room closes with its last session.
    func closed(_ room: Room) { typistCount -= room.typing.told.count }

    func sendChanges(at now: Instant) {
        // A change that was delayed may name a room that has closed.
        for room in changes.take(loop.settings.bounds.tellBatch) where !room.isOver {
            room.typing.typists.timePassed(at: now)
            let moment = room.typing.mayTell(at: now, settings: loop.settings.typing)
            if moment > now {
                loop.remind(.room(room), at: moment)
            } else {
                sendTyping(of: room, at: now)
            }
            if let change = room.typing.typists.nextChange { loop.remind(.room(room), at: change) }
        }
    }

    /// Handles a typist's expiry, a delayed change or a repeat that is due.
    func due(_ room: Room, at now: Instant) {
        // Reminders of a room that has closed still come up.
        guard !room.isOver else { return }
        room.typing.typists.timePassed(at: now)
        changes.insert(room)
        // If the typists changed, the end of the tick sends the new state, so the old one is not repeated first.
        guard room.typing.typists.typists == room.typing.told else { return }
        if let moment = room.typing.nextRepeat(after: loop.settings.typing.expiry), moment <= now {
            _ = send(to: room, before: nil, now: room.typing.told)
            room.typing.told(room.typing.told, toAll: true, at: now)
        }
        remindOfRepeat(room)
    }

    /// Sends each session what changed for it since the last message. Users do not see their own typing, so the
    /// sessions of users who type or typed get separate messages.
    private func sendTyping(of room: Room, at now: Instant) {
        guard room.phase == .live || !room.sessions.isEmpty else { return }
        let (typists, told) = (room.typing.typists.typists, room.typing.told)
        // All published changes are sent, or make no difference to any session.
        let changed = room.typing.changedAt.take()
        guard typists != told else { return remindOfRepeat(room) }
        let isToldToAll = send(to: room, before: told, now: typists) || told.isEmpty
        if let changed, !room.sessions.isEmpty { loop.tally.typingDelivered(changed, at: loop.redis.time(at: now)) }
        noteShown(typists, in: room, toAll: isToldToAll, at: now)
    }

    /// Notes what the sessions in the room have been sent; see ``ShownTyping/told(_:toAll:at:)``.
    func noteShown(_ typists: [Typist], in room: Room, toAll: Bool, at now: Instant) {
        typistCount += typists.count - room.typing.told.count
        room.typing.told(typists, toAll: toAll, at: now)
        remindOfRepeat(room)
    }

    private func remindOfRepeat(_ room: Room) {
        if let moment = room.typing.nextRepeat(after: loop.settings.typing.expiry) {
            loop.remind(.room(room), at: moment)
        }
    }

    /// - Parameter before: the typists sent last; a receiver whose view is unchanged gets no message. `nil` repeats the
    ///   typists to every session for which they are not empty.
    /// - Returns: whether every session for which the typists are not empty was sent a message.
    private func send(to room: Room, before: [Typist]?, now: [Typist]) -> Bool {
        var groups: [(view: TypistView, sessions: [Session])] = []
        for view in TypistView.all(before: before ?? [], now: now, names: loop.settings.typing.names) {
            let sessions = table.of(view.user).filter(room.sessions.contains)
            guard !sessions.isEmpty else { continue }
            if let group = groups.firstIndex(where: { $0.view.look == view.look }) {
                groups[group].sessions += sessions
            } else {
                groups.append((view, sessions))
            }
        }
        let typists = Set(groups.flatMap(\.sessions))
        let others = typists.isEmpty ? room.sessions.elements : room.sessions.elements.filter { !typists.contains($0) }
        var isToldToAll = sendVariant(for: nil, to: others, of: room, before: before, now: now)
        for (view, sessions) in groups {
            isToldToAll = sendVariant(for: view.user, to: sessions, of: room, before: before, now: now) && isToldToAll
        }
        return isToldToAll
    }

    private func sendVariant(
        for user: UserID?, to receivers: [Session], of room: Room, before: [Typist]?, now: [Typist]
    ) -> Bool {
        guard !receivers.isEmpty else { return true }
        let (conversation, names) = (room.conversation, loop.settings.typing.names)
        let message = ServerMessage.typing(in: conversation, of: now, but: user, names: names)
        if let before {
            let told = ServerMessage.typing(in: conversation, of: before, but: user, names: names)
            guard message != told else { return now.allSatisfy { $0.user == user } }
        } else if now.allSatisfy({ $0.user == user }) {
            return true
        }
        outbound.send(message, of: .room(room), to: receivers)
        return true
    }
}

// MARK: The typists of a room

/// The typists of a room, and what its sessions were last sent of them.
struct ShownTyping {
    var typists: TypistSet
    /// The typists last sent to the joined sessions, and when.
    private(set) var told: [Typist] = []
    private var lastTold: Instant?
    /// When `told` was last sent to every session for which it is not empty. Sessions whose view did not change get no
    /// message, such as those of the user who started to type.
    private var lastToldAll: Instant?
    /// The Redis time of the oldest published change that was not sent yet.
    fileprivate var changedAt: Timestamp?

    init(_ settings: ShardSettings.Typing) {
        typists = TypistSet(pace: settings.coalesce)
    }

    /// Notes what the sessions have been sent.
    ///
    /// - Parameter toAll: whether it was sent to every session, so that no session relies on an earlier message that
    ///   must be repeated sooner.
    mutating func told(_ typists: [Typist], toAll: Bool, at now: Instant) {
        (told, lastTold) = (typists, now)
        if toAll { lastToldAll = now }
    }

    /// When the current typists are sent again without a change. The repeat lets clients treat silence as the end of
    /// typing.
    func nextRepeat(after expiry: Duration) -> Instant? {
        told.isEmpty ? nil : lastToldAll.map { $0 + expiry }
    }

    /// When a change may be sent: at once or, in a room where many type, once ``ShardSettings/Typing/coalesce`` has
    /// passed since the last message.
    func mayTell(at now: Instant, settings: ShardSettings.Typing) -> Instant {
        guard max(typists.entries.count, told.count) > settings.names, let lastTold else { return now }
        return max(now, lastTold + settings.coalesce)
    }
}

extension ServerMessage {
    /// The `typing` message for a receiver: all typists except the receiver's own user, with at most `names` of them
    /// named.
    static func typing(in conversation: ConversationID, of typists: [Typist], but user: UserID?, names: Int) -> Self {
        let others = user == nil ? typists : typists.filter { $0.user != user }
        let named = others.count > names ? Array(others.prefix(names)) : others
        return .typing(Typing(conversation: conversation, users: named, count: others.count))
    }
}

// MARK: Who sees whom

// What each typist sees of the other typists. Users do not see themselves, and messages name only a limited number of
// typists. To users beyond that number, all messages look the same, so a large room needs few different messages.

/// A user who types or did type, and how a change of the typists looks to them.
struct TypistView {
    /// Two users with equal looks get the same message. Holds the user's position among the named typists before and
    /// after the change.
    struct Look: Hashable {
        fileprivate var before: Int?
        fileprivate var now: Int?
    }

    let user: UserID
    private(set) var look: Look

    /// Returns the views of all users, sorted by user.
    ///
    /// - Parameter names: the most users named in a message; all later positions count as equal.
    static func all(before: [Typist], now: [Typist], names: Int) -> [TypistView] {
        var views: [TypistView] = []
        views.reserveCapacity(before.count + now.count)
        for (place, typist) in before.enumerated() {
            views.append(TypistView(user: typist.user, look: Look(before: min(place, names))))
        }
        for (place, typist) in now.enumerated() {
            views.append(TypistView(user: typist.user, look: Look(now: min(place, names))))
        }
        views.sort { $0.user < $1.user }
        return views.reduce(into: []) { merged, view in
            guard let last = merged.last, last.user == view.user else { return merged.append(view) }
            merged[merged.count - 1].look = Look(
                before: last.look.before ?? view.look.before, now: last.look.now ?? view.look.now)
        }
    }
}
