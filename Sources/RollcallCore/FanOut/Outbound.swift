// Everything that sessions are sent: replies and changes at once, and to sessions that are behind, or have just started to
// follow something, the current state later and in pieces.
//
// Readers slower than what they follow get the newest state late, instead of every state late. A shard keeps the names
// of what each of them missed, and sends the current state in pieces, each after the previous one was flushed. See
// docs/decisions/0007-slow-readers.md.

internal import RollcallProtocol

/// Sends messages to sessions. The owners of what is shown give it what has changed, or only say what a session follows.
final class Outbound {
    private let loop: Loop
    private var deliveries = 0
    /// Sessions that may get more of their updates at the end of this tick.
    private var due: Set<Session> = []
    /// The number of sessions with updates that wait: those that are behind, or are being sent a snapshot.
    private(set) var backlogCount = 0
    /// About how many bytes one reader of all rooms was sent in this tick.
    private var tickBytes = 0

    init(_ loop: Loop) {
        self.loop = loop
    }

    // MARK: At once

    func deliver(_ message: ServerMessage, to session: Session) {
        deliver(message, to: CollectionOfOne(session))
    }

    /// Sends a message, which is encoded once for all of these sessions.
    ///
    /// - Parameters:
    ///   - spared: sessions that are behind, and get a newer state later. For slow-reader limits, the message counts as if it
    ///     were queued for them.
    ///   - counting: whether it counts towards slow-reader limits.
    func deliver(
        _ message: ServerMessage, to sessions: some Collection<Session>, sparing spared: [Session] = [],
        counting: Bool = true
    ) {
        deliveries += 1
        let delivery = Delivery(message: message, number: deliveries)
        var receivers = 0
        for session in sessions where session.peer?.send(delivery, counting: counting) == true { receivers += 1 }
        for session in spared { session.peer?.spare(delivery) }
        loop.tally.delivered(message, to: receivers, of: sessions.count)
    }

    func acknowledge(_ id: MessageID?, to session: Session) {
        guard let id, session.isConnected else { return }
        deliver(.ack(id), to: session)
    }

    func answer(_ session: Session, _ code: MessageError.Code, id: MessageID?, _ message: String) {
        guard session.isConnected else { return }
        deliver(.error(MessageError(code: code, id: id, message: message)), to: session)
    }

    func answerUnavailable(_ session: Session, id: MessageID?) {
        answer(session, .unavailable, id: id, "Redis does not take this now: try again in a moment")
    }

    /// Sends a change to all receivers that are not behind. For one that is, or that is about to be sent the subject's
    /// state anyway, the subject is queued.
    ///
    /// - Parameter seen: the user's presence before the change.
    func send(
        _ message: ServerMessage, of subject: PendingUpdates.Subject, seen: Presence.Look? = nil,
        to receivers: [Session]
    ) {
        tickBytes += message.size
        guard backlogCount > 0 else { return deliver(message, to: receivers) }
        var (ready, skipped): ([Session], [Session]) = ([], [])
        for session in receivers {
            guard let pending = session.pending, pending.isBlocked || pending.contains(subject) else {
                ready.append(session)
                continue
            }
            if pending.isBlocked { skipped.append(session) }
            if !pending.missed(subject, seen: seen) { loop.tally.conflated += 1 }
        }
        if !ready.isEmpty || !skipped.isEmpty { deliver(message, to: ready, sparing: skipped) }
    }

    /// Whether further large messages wait for the next tick, so that connections are flushed in between.
    var isTickFull: Bool { tickBytes >= loop.settings.bounds.tickBytes }

    // MARK: Later

    /// Queues the current state of subjects for a session.
    func enqueue(_ subjects: [PendingUpdates.Subject], for session: Session) {
        guard !subjects.isEmpty else { return }
        pending(of: session).enqueue(subjects)
        due.insert(session)
    }

    /// Has the state of a queued subject sent even if the session saw the same state before.
    func enqueueAgain(_ subject: PendingUpdates.Subject, for session: Session) {
        // Only what a session is behind with needs this.
        if let pending = session.pending, pending.contains(subject) { pending.enqueue(subject) }
    }

    /// Queues a user whom a session sees otherwise than before.
    ///
    /// - Parameter seen: what the session was shown last.
    func looksOtherwise(_ watch: Watch, than seen: Presence.Look, to session: Session) {
        _ = pending(of: session).missed(.user(watch), seen: seen)
        due.insert(session)
    }

    /// Removes a subject that the session stopped following from its queue.
    func cancel(_ subject: PendingUpdates.Subject, for session: Session) {
        // Most sessions have nothing queued.
        guard let pending = session.pending else { return }
        pending.cancel(subject)
        due.insert(session)
    }

    /// Discards the updates of a session that has ended.
    func forget(_ session: Session) {
        guard session.pending != nil else { return }
        session.pending = nil
        backlogCount -= 1
    }

    /// Handles that the state of a subject for which these sessions waited is known.
    func becameKnown(to sessions: Set<Session>) {
        due.formUnion(sessions)
    }

    private func pending(of session: Session) -> PendingUpdates {
        if let pending = session.pending { return pending }
        let pending = PendingUpdates()
        session.pending = pending
        backlogCount += 1
        return pending
    }

    // MARK: Sessions that are behind

    /// Handles that a session's outbound data is backing up. From now on, changes are noted and not sent until it
    /// catches up. Replies are still sent at once.
    func fellBehind(_ session: Session) {
        if session.isConnected { pending(of: session).isBlocked = true }
    }

    /// Handles that a session's outbound data was flushed.
    ///
    /// - Returns: the `get`s that waited.
    func caughtUp(_ session: Session) -> [PendingUpdates.Get] {
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
    func postpone(_ get: PendingUpdates.Get, of session: Session) -> Bool {
        guard let pending = session.pending, pending.isBlocked else { return false }
        pending.gets.append(get)
        return true
    }

    /// Queues a `get` of a session until it has joined what it is joining.
    func keepUntilJoined(_ get: PendingUpdates.Get, of session: Session) {
        pending(of: session).gets.append(get)
    }

    /// Removes and returns the `get`s of a session that wait.
    func takeGets(of session: Session) -> [PendingUpdates.Get] {
        guard let pending = session.pending, !pending.isBlocked, !pending.gets.isEmpty else { return [] }
        defer {
            pending.gets = []
            due.insert(session)
        }
        return pending.gets
    }

    // MARK: Acknowledgements

    /// Whether one more acknowledgement may wait. There is room for one for each user and each conversation that the
    /// session may follow, so that none is refused because Redis is away.
    func mayAckLater(to session: Session) -> Bool {
        session.pending?.acks.count ?? 0 < mostWaiting
    }

    /// The most acknowledgements of one session that wait.
    var mostWaiting: Int {
        let (limits, repeats) = (loop.settings.limits, loop.settings.bounds.waitingMessages)
        return limits.watchedUsers + limits.joinedConversations + repeats
    }

    /// Acknowledges a message after the session was sent everything that is queued for it now.
    func ackWhenFlushed(_ id: MessageID?, to session: Session) {
        guard let id else { return }
        guard let pending = session.pending else { return acknowledge(id, to: session) }
        pending.ackWhenFlushed(id)
        due.insert(session)
    }

    /// Sends the acknowledgements that waited only for subjects that were removed from the queue.
    func sendDueAcks(to session: Session) {
        for id in session.pending?.takeDueAcks() ?? [] { acknowledge(id, to: session) }
    }

    // MARK: The end of a tick

    /// Sends a piece of the queued state to each session that may be sent more. After a full one, nothing more is sent before
    /// it was flushed. A session that is behind gets none.
    func sendPendingUpdates() {
        tickBytes = 0
        guard !due.isEmpty else { return }
        let sessions = due.sorted { $0.number < $1.number }
        due = []
        let bounds = loop.settings.bounds
        for session in sessions {
            // The session may have ended since it was due.
            guard let pending = session.pending else { continue }
            let awaitsShares = session.awaitsShares
            let (updates, isFull) =
                pending.isBlocked
                ? ([], false)
                : pending.take(bounds.showBatch, bytes: bounds.showBytes) {
                    size(of: $0, for: session, awaitsShares: awaitsShares)
                }
            if isFull { pending.isBlocked = true }
            let acks = pending.takeDueAcks()
            if pending.isEmpty { forget(session) }
            send(updates, to: session)
            if isFull { session.peer?.tellWhenDrained() }
            for id in acks { acknowledge(id, to: session) }
        }
    }

    /// Returns about how many bytes the state has, as far as that varies much; `nil` if it is not known.
    ///
    /// - Parameter awaitsShares: whether a user whom the session may not see, or not yet, waits.
    private func size(of subject: PendingUpdates.Subject, for session: Session, awaitsShares: Bool) -> Int? {
        switch subject {
        case .user(let watch):
            watch.isKnown(to: session) && !(awaitsShares && watch.shown(to: session)?.isNeverSeen == true) ? 0 : nil
        case .here(let room): room.here?.shown.map { ServerMessage.here($0).size }
        case .members(let room): room.membersShown.map { ServerMessage.members($0).size } ?? 0
        case .room: 0
        }
    }

    private func send(_ updates: [PendingUpdates.Update], to session: Session) {
        var presences: [ShownPresence] = []
        for update in updates {
            switch update.subject {
            case .room(let room):
                guard let message = room.typingMessage(for: session.user, names: loop.settings.typing.names) else {
                    continue
                }
                deliver(message, to: CollectionOfOne(session), counting: false)
            case .members(let room):
                guard let message = room.membersShown else { continue }
                deliver(.members(message), to: CollectionOfOne(session), counting: false)
            case .here(let room):
                guard let message = room.here?.shown else { continue }
                deliver(.here(message), to: CollectionOfOne(session), counting: false)
            case .user(let watch):
                guard let presence = watch.shown(to: session) else { continue }
                if isNews(presence, to: update.seen) { presences.append(presence) }
            }
        }
        guard !presences.isEmpty else { return }
        deliver(.shown(presences), to: CollectionOfOne(session), counting: false)
    }

    /// Whether a user's presence differs from what the session saw last.
    private func isNews(_ presence: ShownPresence, to seen: Presence.Look?) -> Bool {
        guard presence.look == seen else { return true }
        loop.tally.conflated += 1
        return false
    }
}

extension ServerMessage {
    /// About how many bytes its text has, if it lists as many users as a room has; 0 for any other.
    var size: Int {
        switch self {
        case .here(let here): here.size
        case .members(let members):
            members.users.reduce(0) { $0 + 30 + $1.user.text.utf8.count + ($1.name?.utf8.count ?? 0) }
        default: 0
        }
    }
}

extension ServerMessage.Here {
    /// About how many bytes its text has.
    var size: Int {
        users.reduce(64) { size, user in
            size + 48 + user.user.text.utf8.count + (user.name?.utf8.count ?? 0) + (user.data?.text.utf8.count ?? 0)
        }
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
