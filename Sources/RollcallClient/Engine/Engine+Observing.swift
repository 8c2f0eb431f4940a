// Who observes what. The first observer of a thing makes the client ask the worker for it, and the last one makes the
// client give it up. What is not observed is not kept.

/// One observer and what it observes.
struct Observer {
    enum Subject {
        case users([UserID])
        case conversation(ConversationID)
        case members(ConversationID)
        case connection
        case problems
    }

    let subject: Subject
    /// Ends the observer's stream.
    let finish: () -> Void
}

extension Engine {
    func observeUser(
        _ user: UserID, _ observer: ObserverID, _ mailbox: Mailbox<Presence>
    ) {
        guard begin(observer, .users([user]), mailbox) else { return }
        want(user, observer) { mailbox.put($0) }
    }

    /// Emits at most one value per tick, even if many of the users changed.
    func observeUsers(
        _ users: [UserID], _ observer: ObserverID, _ mailbox: Mailbox<[UserID: Presence]>
    ) {
        guard begin(observer, .users(users), mailbox) else { return }
        let group = PresenceGroup(on: loop) { mailbox.put($0) }
        for user in users { want(user, observer) { group.heard($0) } }
    }

    func observeConversation(
        _ conversation: ConversationID, _ observer: ObserverID, _ mailbox: Mailbox<Typing>
    ) {
        guard begin(observer, .conversation(conversation), mailbox) else { return }
        room(conversation).topic.add(observer) { mailbox.put($0) }
    }

    func observeConnection(_ observer: ObserverID, _ mailbox: Mailbox<ConnectionState>) {
        guard begin(observer, .connection, mailbox) else {
            return
        }
        connection.add(observer) { mailbox.put($0) }
    }

    func observeProblems(_ observer: ObserverID, _ mailbox: Mailbox<RollcallError>) {
        guard begin(observer, .problems, mailbox) else { return }
        problems[observer] = { mailbox.put($0) }
    }

    func observerGone(_ observer: ObserverID) {
        guard let gone = observers.removeValue(forKey: observer) else { return }
        switch gone.subject {
        case .users(let users):
            for user in users {
                presences[user]?.remove(observer)
                releaseUser(user)
            }
        case .conversation(let conversation):
            rooms[conversation]?.topic.remove(observer)
            releaseRoom(conversation)
        case .members(let conversation):
            membersObserverGone(observer, from: conversation)
        case .connection:
            connection.remove(observer)
        case .problems:
            problems[observer] = nil
        }
    }

    /// Returns the conversation's room, and asks the worker for the conversation, also if the worker refused it before.
    func room(_ conversation: ConversationID) -> Room {
        let room = rooms[conversation] ?? Room(conversation, names: names, on: loop, by: clock)
        rooms[conversation] = room
        agenda.conversationWanted(conversation)
        changed()
        return room
    }

    func releaseRoom(_ conversation: ConversationID) {
        guard let room = rooms[conversation], !isUsed(room) else { return }
        agenda.conversationUnwanted(conversation)
        // While the worker still sends updates of the conversation, its state is kept for new observers.
        if !agenda.conversations.wasTold(conversation) { drop(conversation) }
        changed()
    }

    /// Drops what this message gave up, unless it is observed.
    func dropUnwanted(by message: ClientMessage) {
        switch message {
        case .unwatch(let users): for user in users where presences[user]?.isObserved == false { presences[user] = nil }
        case .join(let conversation, presence: false): dropMembers(of: conversation)
        case .leave(let conversation): drop(conversation)
        case .hello, .token, .state, .watch, .get, .join, .typing, .ping, .goodbye: break
        }
    }

    /// Drops what is not observed and the worker does not send. After a refusal or the end of the connection, this
    /// happens without a message that gives it up.
    func dropUnwanted() {
        for (conversation, room) in rooms {
            if !isUsed(room), !agenda.conversations.wasTold(conversation) {
                drop(conversation)
            } else if !agenda.gatherings.wasTold(conversation) {
                dropMembers(of: conversation)
            }
        }
        presences = presences.filter { $0.value.isObserved || agenda.users.wasTold($0.key) }
    }

    private func drop(_ conversation: ConversationID) {
        dropMembers(of: conversation)
        rooms[conversation] = nil
    }

    func namesLearnt(of users: Set<UserID>) {
        for room in rooms.values { room.namesLearnt(of: users) }
    }

    private func isUsed(_ room: Room) -> Bool {
        room.topic.isObserved || room.gathering?.topic.isObserved == true
            || fields.values.contains { $0.isPresent && $0.conversation == room.conversation }
    }

    private func want(_ user: UserID, _ observer: ObserverID, _ hear: @escaping (Presence) -> Void) {
        presences[user, default: Topic()].add(observer, hear)
        agenda.users.want(user)
        changed()
    }

    func releaseUser(_ user: UserID) {
        guard let topic = presences[user], !topic.isWatched else { return }
        agenda.users.unwant(user)
        if !topic.isObserved, !agenda.users.wasTold(user) { presences[user] = nil }
        changed()
    }

    func begin<Element>(
        _ observer: ObserverID, _ subject: Observer.Subject, _ mailbox: Mailbox<Element>
    ) -> Bool {
        if isClosed {
            mailbox.finish()
            return false
        }
        observers[observer] = Observer(subject: subject) { mailbox.finish() }
        return true
    }
}
