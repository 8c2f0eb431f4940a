// Readers slower than what they follow: they are shown the newest state later, and not all states late. A shard keeps
// for each the names of what it missed; what it is owed goes out piece by piece, the next when the last has left.

internal import RollcallModel

extension Shard {
    /// What was sent to a session waits to leave: what changes for it is noted and not sent, until it has caught up.
    /// Answers still go out at once.
    public mutating func fellBehind(_ key: SessionKey) {
        guard sessions[key]?.isConnected == true else { return }
        backlogs[key, default: Backlog()].isHeld = true
    }

    /// What was sent to a session has left. It is owed the present state of what it missed.
    public mutating func caughtUp(_ key: SessionKey, at now: Instant) -> [ShardAction] {
        guard let gets = backlogs[key]?.gets else { return [] }
        backlogs[key]?.isHeld = false
        backlogs[key]?.gets = []
        for get in gets { ask(for: get.users, id: get.id, on: key, at: now) }
        sessionsToShow.insert(key)
        return take()
    }

    /// Owes a session the present state of what it follows from now on.
    mutating func owe(_ subjects: [Backlog.Subject], to key: SessionKey) {
        guard !subjects.isEmpty else { return }
        backlogs[key, default: Backlog()].owe(subjects)
        sessionsToShow.insert(key)
    }

    /// The session does not follow this any more.
    mutating func forgive(_ subject: Backlog.Subject, to key: SessionKey) {
        guard backlogs[key] != nil else { return }
        backlogs[key]?.forgive(subject)
        sessionsToShow.insert(key)
    }

    /// Whether there is room for one more acknowledgement that waits. There is one for each user and each conversation
    /// that the session may follow, so that none is refused because Redis is away.
    func mayPromise(to key: SessionKey) -> Bool {
        backlogs[key]?.promises.count ?? 0 < mostWaiting
    }

    /// The most acknowledgements of one session that wait.
    var mostWaiting: Int {
        let (limits, repeats) = (settings.limits, settings.bounds.waitingMessages)
        return limits.watchedUsers + limits.joinedConversations + repeats
    }

    /// Acknowledges a message once the session has been shown what it is owed by now.
    mutating func promise(_ id: MessageID?, to key: SessionKey) {
        guard let id else { return }
        guard backlogs[key] != nil else { return acknowledge(id, to: key) }
        backlogs[key]?.promise(id)
        sessionsToShow.insert(key)
    }

    /// Acknowledges what has waited only for what is not wanted any more.
    mutating func keepPromises(to key: SessionKey) {
        for id in backlogs[key]?.takeKeptPromises() ?? [] { acknowledge(id, to: key) }
    }

    /// Sends a change to all of these, but to those who are behind, or about to be shown its subject anyway.
    ///
    /// - Parameter seen: how a user looked before.
    mutating func tell(
        _ message: ServerMessage, of subject: Backlog.Subject, seen: Presence.Look? = nil, to receivers: [SessionKey]
    ) {
        guard !backlogs.isEmpty else { return actions.append(.send(message, to: receivers)) }
        var (ready, spared): ([SessionKey], [SessionKey]) = ([], [])
        for key in receivers {
            guard let backlog = backlogs[key], backlog.isHeld || backlog.owes(subject) else {
                ready.append(key)
                continue
            }
            if backlog.isHeld { spared.append(key) }
            if backlogs[key]?.missed(subject, seen: seen) == false { tally.conflated += 1 }
        }
        if !spared.isEmpty {
            actions.append(.sendSparing(message, to: ready, spared: spared))
        } else if !ready.isEmpty {
            actions.append(.send(message, to: ready))
        }
    }

    /// Shows each session that may be shown something a piece of what it is owed.
    mutating func showBacklogs() {
        for key in sessionsToShow.sorted(by: { $0.index < $1.index }) {
            guard var backlog = backlogs.removeValue(forKey: key) else { continue }
            if !backlog.isHeld { showPiece(of: &backlog, to: key) }
            for id in backlog.takeKeptPromises() { acknowledge(id, to: key) }
            if !backlog.isEmpty { backlogs[key] = backlog }
        }
        sessionsToShow = []
    }

    private mutating func showPiece(of backlog: inout Backlog, to key: SessionKey) {
        let debts = backlog.take(settings.bounds.showBatch) { [watches] in Self.isKnown($0, in: watches) }
        var presences: [Presence] = []
        for debt in debts {
            switch debt.subject {
            case .room(let room): sendSnapshot(of: room, to: key)
            case .members(let room): sendMembers(of: room, to: key)
            case .user(let user):
                guard let presence = watches.read(user, { $0.shown }) ?? nil else { continue }
                if isNews(presence, to: debt.seen) { presences.append(presence) }
            }
        }
        if !presences.isEmpty { actions.append(.sendSnapshot(.presence(presences), to: key)) }
        guard debts.count == settings.bounds.showBatch else { return }
        backlog.isHeld = true
        actions.append(.tellWhenDrained(key))
    }

    /// A user who looks again as they last did to this session is no news to it.
    private mutating func isNews(_ presence: Presence, to seen: Presence.Look?) -> Bool {
        guard presence.look == seen else { return true }
        tally.conflated += 1
        return false
    }

    private static func isKnown(_ subject: Backlog.Subject, in watches: SlotMap<Watch>) -> Bool {
        switch subject {
        case .user(let user): watches.read(user) { $0.isShown } == true
        case .room, .members: true
        }
    }
}
