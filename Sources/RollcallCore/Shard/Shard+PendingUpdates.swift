// Readers slower than what they follow get the newest state late, instead of every state late. A shard keeps the names
// of what each of them missed, and sends the current state in pieces, each after the previous one was flushed. See
// docs/decisions/0007-slow-readers.md.

internal import RollcallModel

extension Shard {
    /// Handles that a session's outbound data is backing up. From now on, changes are noted and not sent until it
    /// catches up. Replies are still sent at once.
    public mutating func fellBehind(_ key: SessionKey) {
        guard sessions[key]?.isConnected == true else { return }
        backlogs[key, default: PendingUpdates()].isBlocked = true
    }

    /// Handles that a session's outbound data was flushed, and sends the current state of what it missed.
    public mutating func caughtUp(_ key: SessionKey, at now: Instant) -> [ShardAction] {
        guard let gets = backlogs[key]?.gets else { return [] }
        backlogs[key]?.isBlocked = false
        backlogs[key]?.gets = []
        for get in gets { ask(for: get.users, id: get.id, on: key, at: now) }
        sessionsToShow.insert(key)
        return take()
    }

    /// Queues the current state of subjects for a session.
    mutating func enqueue(_ subjects: [PendingUpdates.Subject], to key: SessionKey) {
        guard !subjects.isEmpty else { return }
        backlogs[key, default: PendingUpdates()].enqueue(subjects)
        sessionsToShow.insert(key)
    }

    /// Removes a subject that the session stopped following from its queue.
    mutating func cancel(_ subject: PendingUpdates.Subject, to key: SessionKey) {
        guard backlogs[key] != nil else { return }
        backlogs[key]?.cancel(subject)
        sessionsToShow.insert(key)
    }

    /// Whether one more acknowledgement may wait. There is room for one for each user and each conversation that the
    /// session may follow, so that none is refused because Redis is away.
    func mayAckLater(to key: SessionKey) -> Bool {
        backlogs[key]?.acks.count ?? 0 < mostWaiting
    }

    /// The most acknowledgements of one session that wait.
    var mostWaiting: Int {
        let (limits, repeats) = (settings.limits, settings.bounds.waitingMessages)
        return limits.watchedUsers + limits.joinedConversations + repeats
    }

    /// Acknowledges a message after the session was sent everything that is queued for it now.
    mutating func ackWhenFlushed(_ id: MessageID?, to key: SessionKey) {
        guard let id else { return }
        guard backlogs[key] != nil else { return acknowledge(id, to: key) }
        backlogs[key]?.ackWhenFlushed(id)
        sessionsToShow.insert(key)
    }

    /// Sends the acknowledgements that waited only for subjects that were removed from the queue.
    mutating func sendDueAcks(to key: SessionKey) {
        for id in backlogs[key]?.takeDueAcks() ?? [] { acknowledge(id, to: key) }
    }

    /// Sends a change to all receivers that are not behind. For a receiver that is behind, or about to be sent the
    /// subject's state anyway, the subject is queued.
    ///
    /// - Parameter seen: the user's presence before the change.
    mutating func tell(
        _ message: ServerMessage, of subject: PendingUpdates.Subject, seen: Presence.Look? = nil,
        to receivers: [SessionKey]
    ) {
        guard !backlogs.isEmpty else { return actions.append(.send(message, to: receivers)) }
        var (ready, spared): ([SessionKey], [SessionKey]) = ([], [])
        for key in receivers {
            guard let backlog = backlogs[key], backlog.isBlocked || backlog.contains(subject) else {
                ready.append(key)
                continue
            }
            if backlog.isBlocked { spared.append(key) }
            if backlogs[key]?.missed(subject, seen: seen) == false { tally.conflated += 1 }
        }
        if !spared.isEmpty {
            actions.append(.sendSparing(message, to: ready, spared: spared))
        } else if !ready.isEmpty {
            actions.append(.send(message, to: ready))
        }
    }

    /// Sends a piece of the queued state to each session that may be sent more.
    mutating func showBacklogs() {
        for key in sessionsToShow.sorted(by: { $0.index < $1.index }) {
            guard var backlog = backlogs.removeValue(forKey: key) else { continue }
            if !backlog.isBlocked { showPiece(of: &backlog, to: key) }
            for id in backlog.takeDueAcks() { acknowledge(id, to: key) }
            if !backlog.isEmpty { backlogs[key] = backlog }
        }
        sessionsToShow = []
    }

    private mutating func showPiece(of backlog: inout PendingUpdates, to key: SessionKey) {
        let taken = backlog.take(settings.bounds.showBatch) { [watches] in Self.isKnown($0, in: watches) }
        var presences: [Presence] = []
        for update in taken {
            switch update.subject {
            case .room(let room): sendSnapshot(of: room, to: key)
            case .members(let room): sendMembers(of: room, to: key)
            case .user(let user):
                guard let presence = watches.read(user, { $0.shown }) ?? nil else { continue }
                if isNews(presence, to: update.seen) { presences.append(presence) }
            }
        }
        if !presences.isEmpty { actions.append(.sendSnapshot(.presence(presences), to: key)) }
        guard taken.count == settings.bounds.showBatch else { return }
        backlog.isBlocked = true
        actions.append(.tellWhenDrained(key))
    }

    /// Whether a user's presence differs from what the session saw last.
    private mutating func isNews(_ presence: Presence, to seen: Presence.Look?) -> Bool {
        guard presence.look == seen else { return true }
        tally.conflated += 1
        return false
    }

    private static func isKnown(_ subject: PendingUpdates.Subject, in watches: NamedTable<Watch>) -> Bool {
        switch subject {
        case .user(let user): watches.read(user) { $0.isShown } == true
        case .room, .members: true
        }
    }
}
