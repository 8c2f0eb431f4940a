// What the worker answers: acknowledgements, errors, and presence asked for once.

import NIOCore

/// One call for presence once, until it is answered or its time is over.
final class FetchCall {
    let id: FetchID
    var call: Fetch
    let done: ([UserID: Presence]) -> Void
    let alarm: Alarm

    init(_ call: Fetch, id: FetchID, done: @escaping ([UserID: Presence]) -> Void, alarm: Alarm) {
        self.id = id
        self.call = call
        self.done = done
        self.alarm = alarm
    }
}

extension Engine {
    /// How long to wait before a read that the worker could not do is asked for again.
    private static let unavailablePause = Duration.milliseconds(500)

    /// Calls `done` with what is known once all is, or the time is over.
    func fetch(
        _ users: [UserID], id: FetchID, within limit: Duration, done: @escaping ([UserID: Presence]) -> Void
    ) {
        let call = Fetch(of: users)
        guard !isClosed, !call.isComplete else { return done([:]) }
        let alarm = Alarm(on: loop, by: clock) { [weak self] in self?.endFetch(id) }
        fetches[id] = FetchCall(call, id: id, done: done, alarm: alarm)
        alarm.set(clock.now + limit)
        if connector.isOpen {
            agenda.fetchWanted(id, of: call.missing)
            changed()
        }
    }

    /// Ends a call with what has been found.
    func endFetch(_ id: FetchID) {
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        agenda.fetchEnded(id)
        fetch.done(fetch.call.found)
    }

    func presencesHeard(_ heard: [Presence], answering id: MessageID?) {
        for presence in heard { presences[presence.user]?.update(presence) }
        guard let id else { return }
        getAnswered(id)
        guard case .get(let fetch) = agenda.subject(of: id) else { return }
        fetches[fetch]?.call.heard(heard)
        if fetches[fetch]?.call.isComplete == true { endFetch(fetch) }
    }

    func acknowledged(_ id: MessageID) {
        // A fetch is answered by presence, which may come after its acknowledgement.
        if case .get = agenda.subject(of: id) { return }
        switch agenda.answered(id) {
        case .stop(let stop): endStop(stop, published: true)
        case .get, .watch, .join, .token, nil: break
        }
    }

    func refused(_ error: MessageError) {
        if let id = error.id { getAnswered(id) }
        switch error.id.flatMap({ agenda.answered($0) }) {
        case .watch(let users):
            for user in users { agenda.users.refused(user) }
            report(RollcallError(error))
        case .join(let conversation):
            refused(conversation, RollcallError(error))
        case .get(let fetch):
            error.retry ? askAgainLater(fetch) : endFetch(fetch)
        case .stop(let stop):
            endStop(stop, published: false)
        case .token:
            break  // A worker that takes none ends the session when the old one expires; then a new one begins.
        case nil:
            // Typing that could not be published is weather; the field goes on signalling.
            if !error.retry { report(RollcallError(error)) }
        }
    }

    func removed(from conversation: ConversationID) {
        refused(conversation, RollcallError(.notAMember, "the user is no longer a member"))
    }

    private func refused(_ conversation: ConversationID, _ error: RollcallError) {
        agenda.conversations.refused(conversation)
        rooms[conversation]?.refused(error)
        membersRefused(in: conversation, error)
    }

    private func getAnswered(_ id: MessageID) {
        agenda.getAnswered(id)
        changed()
    }

    private func askAgainLater(_ id: FetchID) {
        _ = loop.schedule(at: clock.now + Self.unavailablePause, by: clock) { [weak self] in
            guard let self, let fetch = fetches[id], connector.isOpen else { return }
            agenda.fetchEnded(id)
            agenda.fetchWanted(id, of: fetch.call.missing)
            changed()
        }
    }

    func endStop(_ id: StopID, published: Bool) {
        stops.removeValue(forKey: id)?(published)
    }

    /// The connection is gone: its worker has seen that too, and ends the typing by itself.
    func endStops() {
        for id in stops.keys { endStop(id, published: false) }
    }
}
