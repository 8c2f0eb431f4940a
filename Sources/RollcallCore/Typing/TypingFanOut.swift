// Sends typing to the sessions of a room: each change to the sessions whose view it changes, and repeats before clients
// let the typing expire.

internal import RollcallProtocol

extension Shard {
    func sendTyping(at now: Instant) {
        // A change that was delayed may name a room that has closed.
        for room in fanOut.typing.take(settings.bounds.tellBatch) where !room.isOver {
            room.typists.timePassed(at: now)
            let moment = room.mayTell(at: now, settings: settings.typing)
            if moment > now {
                timers.remind(.room(room), at: moment)
            } else {
                sendTyping(of: room, at: now)
            }
            if let change = room.typists.nextChange { timers.remind(.room(room), at: change) }
        }
    }

    /// Handles a typist's expiry, a delayed change or a repeat that is due.
    func roomDue(_ room: Room, at now: Instant) {
        // Reminders of a room that has closed still come up.
        guard !room.isOver else { return }
        room.typists.timePassed(at: now)
        fanOut.typing.insert(room)
        // If the typists changed, the end of the tick sends the new state, so the old one is not repeated first.
        guard room.typists.typists == room.told else { return }
        if let moment = room.nextRepeat(after: settings.typing.expiry), moment <= now {
            _ = send(to: room, before: nil, now: room.told)
            room.told(room.told, toAll: true, at: now)
        }
        remindOfRepeat(room)
    }

    func sendSnapshot(of room: Room, to session: Session) {
        guard !room.isOver else { return }
        let message = ServerMessage.typing(
            in: room.conversation, of: room.told, but: session.user, names: settings.typing.names)
        deliver(message, to: CollectionOfOne(session), counting: false)
    }

    /// Sends each session what changed for it since the last message. Users do not see their own typing, so the
    /// sessions of users who type or typed get separate messages.
    private func sendTyping(of room: Room, at now: Instant) {
        guard room.phase == .live || !room.sessions.isEmpty else { return }
        let (typists, told) = (room.typists.typists, room.told)
        let changed = room.changeTold()
        guard typists != told else { return remindOfRepeat(room) }
        let isToldToAll = send(to: room, before: told, now: typists) || told.isEmpty
        if let changed, !room.sessions.isEmpty { tally.typingDelivered(changed, at: redis.time(at: now)) }
        noteTold(typists, in: room, toAll: isToldToAll, at: now)
    }

    /// Notes what the sessions in the room have been sent; see ``Room/told(_:toAll:at:)``.
    func noteTold(_ typists: [Typist], in room: Room, toAll: Bool, at now: Instant) {
        fanOut.typistCount += typists.count - room.told.count
        room.told(typists, toAll: toAll, at: now)
        remindOfRepeat(room)
    }

    private func remindOfRepeat(_ room: Room) {
        if let moment = room.nextRepeat(after: settings.typing.expiry) { timers.remind(.room(room), at: moment) }
    }

    /// - Parameter before: the typists sent last; a receiver whose view is unchanged gets no message. `nil` repeats the
    ///   typists to every session for which they are not empty.
    /// - Returns: whether every session for which the typists are not empty was sent a message.
    private func send(to room: Room, before: [Typist]?, now: [Typist]) -> Bool {
        var groups: [(view: TypistView, sessions: [Session])] = []
        for view in TypistView.all(before: before ?? [], now: now, names: settings.typing.names) {
            let sessions = sessions.of(view.user).filter(room.sessions.contains)
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
        let (conversation, names) = (room.conversation, settings.typing.names)
        let message = ServerMessage.typing(in: conversation, of: now, but: user, names: names)
        if let before {
            let told = ServerMessage.typing(in: conversation, of: before, but: user, names: names)
            guard message != told else { return now.allSatisfy { $0.user == user } }
        } else if now.allSatisfy({ $0.user == user }) {
            return true
        }
        send(message, of: .room(room), to: receivers)
        return true
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
