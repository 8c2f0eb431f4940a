// What waits to be sent to sessions: changes of this tick, for all sessions that follow their subject, and updates of
// single sessions that are behind or have just started to follow something.

internal import RollcallProtocol

struct FanOut {
    /// The receivers of a message, by what they get.
    struct Receivers: Hashable {
        /// Sessions that get the message.
        var ready: [Session] = []
        /// Sessions that are behind, and get a newer state later.
        var skipped: [Session] = []
        /// The number of changes that newer ones replaced.
        var conflated = 0
    }

    /// What a session is sent at the end of a tick.
    struct Piece: Hashable {
        var updates: [PendingUpdates.Update]
        /// Messages to acknowledge after these updates.
        var acks: [MessageID]
        /// Whether nothing more is sent before these updates were flushed.
        var isFull: Bool
    }

    /// Rooms whose typists have changed.
    var typing = ChangeQueue<Room>()
    /// Rooms whose members have changed.
    var members = ChangeQueue<Room>()
    /// Users whose presence has changed.
    var presence = ChangeQueue<Watch>()
    /// The number of typists last sent to sessions, summed over all rooms.
    var typistCount = 0
    /// Sessions that may get more of their updates at the end of this tick.
    private var due: Set<Session> = []

    var changeCount: Int { typing.count + members.count + presence.count }

    var hasChanges: Bool { !typing.isEmpty || !members.isEmpty || !presence.isEmpty }

    /// The number of sessions with updates that wait.
    private(set) var pendingCount = 0

    /// The number of a session's acknowledgements that wait.
    func ackCount(of session: Session) -> Int { session.pending?.acks.count ?? 0 }

    private mutating func pending(of session: Session) -> PendingUpdates {
        if let pending = session.pending { return pending }
        let pending = PendingUpdates()
        session.pending = pending
        pendingCount += 1
        return pending
    }

    // MARK: Sessions that are behind

    /// Handles that a session's outbound data is backing up.
    mutating func fellBehind(_ session: Session) {
        pending(of: session).isBlocked = true
    }

    /// Handles that a session's outbound data was flushed.
    ///
    /// - Returns: the `get`s that waited.
    mutating func caughtUp(_ session: Session) -> [PendingUpdates.Get] {
        // It may have caught up before it was noticed to be behind.
        guard let pending = session.pending else { return [] }
        defer { pending.gets = [] }
        pending.isBlocked = false
        due.insert(session)
        return pending.gets
    }

    /// Queues a `get` of a session that is behind.
    ///
    /// - Returns: false if the session is not behind, so the `get` does not wait.
    mutating func postpone(_ get: PendingUpdates.Get, of session: Session) -> Bool {
        guard let pending = session.pending, pending.isBlocked else { return false }
        pending.gets.append(get)
        return true
    }

    /// Discards the updates of a session that has ended.
    mutating func forget(_ session: Session) {
        guard session.pending != nil else { return }
        session.pending = nil
        pendingCount -= 1
    }

    // MARK: Updates of one session

    /// Queues the current state of subjects for a session.
    mutating func enqueue(_ subjects: [PendingUpdates.Subject], for session: Session) {
        guard !subjects.isEmpty else { return }
        pending(of: session).enqueue(subjects)
        due.insert(session)
    }

    /// Has the state of a queued subject sent even if the session saw the same state before.
    mutating func enqueueAgain(_ subject: PendingUpdates.Subject, for session: Session) {
        // Only what a session is behind with needs this.
        if let pending = session.pending, pending.contains(subject) { pending.enqueue(subject) }
    }

    /// Removes a subject that the session stopped following from its queue.
    mutating func cancel(_ subject: PendingUpdates.Subject, for session: Session) {
        // Most sessions have nothing queued.
        guard let pending = session.pending else { return }
        pending.cancel(subject)
        due.insert(session)
    }

    /// Registers a message to acknowledge after everything that is queued for the session now.
    ///
    /// - Returns: false if nothing is queued, so the message may be acknowledged at once.
    mutating func ackWhenFlushed(_ id: MessageID, for session: Session) -> Bool {
        guard let pending = session.pending else { return false }
        pending.ackWhenFlushed(id)
        due.insert(session)
        return true
    }

    /// Removes and returns the acknowledgements that waited only for subjects that were removed from the queue.
    func takeDueAcks(of session: Session) -> [MessageID] {
        session.pending?.takeDueAcks() ?? []
    }

    /// Handles that the state of a subject for which these sessions waited is known.
    mutating func becameKnown(to sessions: Set<Session>) {
        due.formUnion(sessions)
    }

    // MARK: Sending

    /// Divides the receivers of a change into those that get it now, and those that get a newer state later. For a
    /// session that is behind, or about to be sent the subject's state anyway, the subject is queued.
    ///
    /// - Parameter seen: the user's presence before the change.
    /// - Returns: `nil` if all receivers get the change now.
    func receivers(
        _ receivers: [Session], of subject: PendingUpdates.Subject, seen: Presence.Look?
    ) -> Receivers? {
        guard pendingCount > 0 else { return nil }
        var divided = Receivers()
        for session in receivers {
            guard let pending = session.pending, pending.isBlocked || pending.contains(subject) else {
                divided.ready.append(session)
                continue
            }
            if pending.isBlocked { divided.skipped.append(session) }
            if !pending.missed(subject, seen: seen) { divided.conflated += 1 }
        }
        return divided
    }

    /// Removes and returns the sessions that may get more of their updates, by number.
    mutating func takeDue() -> [Session] {
        guard !due.isEmpty else { return [] }
        defer { due = [] }
        return due.sorted { $0.number < $1.number }
    }

    /// Removes and returns the next updates of a session. A session that is behind gets none.
    ///
    /// - Parameter isKnown: returns false for subjects whose state is not known yet.
    mutating func takePiece(
        for session: Session, limit: Int, isKnown: (PendingUpdates.Subject) -> Bool
    ) -> Piece? {
        // The session may have ended since it was due.
        guard let waiting = session.pending else { return nil }
        let updates = waiting.isBlocked ? [] : waiting.take(limit, isKnown: isKnown)
        let isFull = updates.count == limit
        if isFull { waiting.isBlocked = true }
        let acks = waiting.takeDueAcks()
        if waiting.isEmpty { forget(session) }
        return Piece(updates: updates, acks: acks, isFull: isFull)
    }
}

// MARK: Slow readers

// Readers slower than what they follow get the newest state late, instead of every state late. A shard keeps the names
// of what each of them missed, and sends the current state in pieces, each after the previous one was flushed. See
// docs/decisions/0007-slow-readers.md.

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

// MARK: What changed

// Changes that wait to be sent. One tick sends only a part of many changes, so that connections are flushed in between
// and none gets more than it can take.

/// Changed subjects, each once, sent in rounds. One that changes again waits for the next round, so each gets its turn.
struct ChangeQueue<Subject: Numbered> {
    private var changed: Set<Subject> = []
    /// The rest of the current round; the next one is at the end.
    private var round: [Subject] = []

    var isEmpty: Bool { changed.isEmpty && round.isEmpty }
    var count: Int { changed.count + round.count }

    mutating func insert(_ subject: Subject) {
        changed.insert(subject)
    }

    /// Removes and returns up to `limit` subjects to send next, by number.
    mutating func take(_ limit: Int) -> [Subject] {
        if round.isEmpty {
            round = changed.sorted { $0.number > $1.number }
            changed = []
        }
        defer { round.removeLast(min(limit, round.count)) }
        return round.suffix(limit).reversed()
    }
}
