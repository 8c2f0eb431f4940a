// Readers slower than what they follow get the newest state late, instead of every state late. A shard keeps the names
// of what each of them missed, and sends the current state in pieces, each after the previous one was flushed. See
// docs/decisions/0007-slow-readers.md.

internal import RollcallModel

extension Shard {
    /// Handles that a session's outbound data is backing up. From now on, changes are noted and not sent until it
    /// catches up. Replies are still sent at once.
    public func fellBehind(_ session: Session) {
        guard session.isConnected else { return }
        fanOut.fellBehind(session)
    }

    /// Handles that a session's outbound data was flushed, and sends the current state of what it missed.
    public func caughtUp(_ session: Session, at now: Instant) {
        for get in fanOut.caughtUp(session) { ask(for: get.users, id: get.id, on: session, at: now) }
    }

    /// Whether one more acknowledgement may wait. There is room for one for each user and each conversation that the
    /// session may follow, so that none is refused because Redis is away.
    func mayAckLater(to session: Session) -> Bool {
        fanOut.ackCount(of: session) < mostWaiting
    }

    /// The most acknowledgements of one session that wait.
    var mostWaiting: Int {
        let (limits, repeats) = (settings.limits, settings.bounds.waitingMessages)
        return limits.watchedUsers + limits.joinedConversations + repeats
    }

    /// Acknowledges a message after the session was sent everything that is queued for it now.
    func ackWhenFlushed(_ id: MessageID?, to session: Session) {
        guard let id, !fanOut.ackWhenFlushed(id, for: session) else { return }
        acknowledge(id, to: session)
    }

    /// Sends the acknowledgements that waited only for subjects that were removed from the queue.
    func sendDueAcks(to session: Session) {
        for id in fanOut.takeDueAcks(of: session) { acknowledge(id, to: session) }
    }

    /// Sends a change to all receivers that are not behind; see ``FanOut/receivers(_:of:seen:)``.
    ///
    /// - Parameter seen: the user's presence before the change.
    func send(
        _ message: ServerMessage, of subject: PendingUpdates.Subject, seen: Presence.Look? = nil,
        to receivers: [Session]
    ) {
        guard let divided = fanOut.receivers(receivers, of: subject, seen: seen) else {
            return deliver(message, to: receivers)
        }
        tally.conflated += divided.conflated
        guard !divided.ready.isEmpty || !divided.skipped.isEmpty else { return }
        deliver(message, to: divided.ready, sparing: divided.skipped)
    }

    /// Sends a piece of the queued state to each session that may be sent more.
    func sendPendingUpdates() {
        for session in fanOut.takeDue() {
            let piece = fanOut.takePiece(for: session, limit: settings.bounds.showBatch) { subject in
                if case .user(let watch) = subject { watch.shown != nil } else { true }
            }
            guard let piece else { continue }
            send(piece.updates, to: session)
            if piece.isFull { session.peer?.tellWhenDrained() }
            for id in piece.acks { acknowledge(id, to: session) }
        }
    }

    private func send(_ updates: [PendingUpdates.Update], to session: Session) {
        var presences: [Presence] = []
        for update in updates {
            switch update.subject {
            case .room(let room): sendSnapshot(of: room, to: session)
            case .members(let room): sendMembers(of: room, to: session)
            case .user(let watch):
                guard let presence = watch.shown else { continue }
                if isNews(presence, to: update.seen) { presences.append(presence) }
            }
        }
        guard !presences.isEmpty else { return }
        deliver(.presence(presences), to: CollectionOfOne(session), counting: false)
    }

    /// Whether a user's presence differs from what the session saw last.
    private func isNews(_ presence: Presence, to seen: Presence.Look?) -> Bool {
        guard presence.look == seen else { return true }
        tally.conflated += 1
        return false
    }
}
