// Readers slower than what they follow get the newest state late, instead of every state late. A shard keeps the names
// of what each of them missed, and sends the current state in pieces, each after the previous one was flushed. See
// docs/decisions/0007-slow-readers.md.

internal import RollcallModel

extension Shard {
    /// Handles that a session's outbound data is backing up. From now on, changes are noted and not sent until it
    /// catches up. Replies are still sent at once.
    public func fellBehind(_ key: SessionKey) {
        guard sessions[key]?.isConnected == true else { return }
        fanOut.fellBehind(key)
    }

    /// Handles that a session's outbound data was flushed, and sends the current state of what it missed.
    public func caughtUp(_ key: SessionKey, at now: Instant) -> [ShardAction] {
        for get in fanOut.caughtUp(key) { ask(for: get.users, id: get.id, on: key, at: now) }
        return take()
    }

    /// Whether one more acknowledgement may wait. There is room for one for each user and each conversation that the
    /// session may follow, so that none is refused because Redis is away.
    func mayAckLater(to key: SessionKey) -> Bool {
        fanOut.ackCount(of: key) < mostWaiting
    }

    /// The most acknowledgements of one session that wait.
    var mostWaiting: Int {
        let (limits, repeats) = (settings.limits, settings.bounds.waitingMessages)
        return limits.watchedUsers + limits.joinedConversations + repeats
    }

    /// Acknowledges a message after the session was sent everything that is queued for it now.
    func ackWhenFlushed(_ id: MessageID?, to key: SessionKey) {
        guard let id, !fanOut.ackWhenFlushed(id, for: key) else { return }
        acknowledge(id, to: key)
    }

    /// Sends the acknowledgements that waited only for subjects that were removed from the queue.
    func sendDueAcks(to key: SessionKey) {
        for id in fanOut.takeDueAcks(of: key) { acknowledge(id, to: key) }
    }

    /// Sends a change to all receivers that are not behind; see ``FanOut/receivers(_:of:seen:)``.
    ///
    /// - Parameter seen: the user's presence before the change.
    func send(
        _ message: ServerMessage, of subject: PendingUpdates.Subject, seen: Presence.Look? = nil,
        to receivers: [SessionKey]
    ) {
        guard let divided = fanOut.receivers(receivers, of: subject, seen: seen) else {
            return actions.append(.send(message, to: receivers))
        }
        tally.conflated += divided.conflated
        if !divided.skipped.isEmpty {
            actions.append(.sendSparing(message, to: divided.ready, spared: divided.skipped))
        } else if !divided.ready.isEmpty {
            actions.append(.send(message, to: divided.ready))
        }
    }

    /// Sends a piece of the queued state to each session that may be sent more.
    func sendPendingUpdates() {
        for key in fanOut.takeDue() {
            let piece = fanOut.takePiece(for: key, limit: settings.bounds.showBatch) { subject in
                if case .user(let watch) = subject { watch.shown != nil } else { true }
            }
            guard let piece else { continue }
            send(piece.updates, to: key)
            if piece.isFull { actions.append(.tellWhenDrained(key)) }
            for id in piece.acks { acknowledge(id, to: key) }
        }
    }

    private func send(_ updates: [PendingUpdates.Update], to key: SessionKey) {
        var presences: [Presence] = []
        for update in updates {
            switch update.subject {
            case .room(let room): sendSnapshot(of: room, to: key)
            case .members(let room): sendMembers(of: room, to: key)
            case .user(let watch):
                guard let presence = watch.shown else { continue }
                if isNews(presence, to: update.seen) { presences.append(presence) }
            }
        }
        if !presences.isEmpty { actions.append(.sendSnapshot(.presence(presences), to: key)) }
    }

    /// Whether a user's presence differs from what the session saw last.
    private func isNews(_ presence: Presence, to seen: Presence.Look?) -> Bool {
        guard presence.look == seen else { return true }
        tally.conflated += 1
        return false
    }
}
