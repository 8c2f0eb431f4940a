// The members of a conversation. The worker is asked for them with the join, while they are observed.

extension Engine {
    func observeMembers(
        of conversation: ConversationID, _ observer: ObserverID, _ mailbox: Mailbox<Members>
    ) {
        guard begin(observer, .members(conversation), mailbox) else { return }
        let room = room(conversation)
        let gathering = room.gathering ?? Gathering(of: conversation, names: names, on: loop, by: clock)
        room.gathering = gathering
        agenda.gatherings.want(conversation)
        gathering.topic.add(observer) { mailbox.put($0) }
    }

    func membersObserverGone(_ observer: ObserverID, from conversation: ConversationID) {
        guard let gathering = rooms[conversation]?.gathering else { return }
        gathering.topic.remove(observer)
        guard !gathering.topic.isObserved else { return }
        agenda.gatherings.unwant(conversation)
        // While the worker still sends the members, they are kept for new observers.
        if !agenda.gatherings.wasTold(conversation) { dropMembers(of: conversation) }
        releaseRoom(conversation)
        changed()
    }

    func membersHeard(_ message: ServerMessage.Members) {
        guard let gathering = rooms[message.conversation]?.gathering else { return }
        let (come, gone) = gathering.heard(message)
        for user in gone { forget(user, for: gathering) }
        for user in come {
            presences[user, default: Topic()].add(gathering.observer, watching: false) { [weak gathering] in
                gathering?.heard($0)
            }
        }
    }

    func membersRefused(in conversation: ConversationID, _ error: RollcallError) {
        guard let gathering = rooms[conversation]?.gathering else { return }
        for user in gathering.refused(error) { forget(user, for: gathering) }
    }

    /// Drops members that are not observed. Called once the worker was asked to stop sending them, or is disconnected.
    func dropMembers(of conversation: ConversationID) {
        guard let room = rooms[conversation], let gathering = room.gathering, !gathering.topic.isObserved else {
            return
        }
        room.gathering = nil
        for user in gathering.users { forget(user, for: gathering) }
    }

    private func forget(_ user: UserID, for gathering: Gathering) {
        presences[user]?.remove(gathering.observer)
        releaseUser(user)
    }
}
