// The worker's answers: acknowledgements, errors, and presence that is read once.

import NIOCore

/// A call that reads presence once, until it is answered or its time limit passes.
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
    /// Reads presence once. Calls `done` when all of it is known, or with what is known when the time limit passes.
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

    /// Ends a call with the presence received so far.
    func endFetch(_ id: FetchID) {
        guard let fetch = fetches.removeValue(forKey: id) else { return }
        agenda.fetchEnded(id)
        fetch.done(fetch.call.found)
    }

    func presencesHeard(_ heard: [Presence], answering id: MessageID?) {
        for presence in heard { presences[presence.user]?.update(presence) }
        momentsHeard(in: heard)
        guard let id else { return }
        agenda.getAnswered(id)
        changed()
        guard let fetch = agenda.fetch(of: id) else { return }
        fetches[fetch]?.call.heard(heard)
        if fetches[fetch]?.call.isComplete == true { endFetch(fetch) }
    }

    func acknowledged(_ id: MessageID) {
        if case .stop(let stop) = agenda.acknowledged(id) { endStop(stop, published: true) }
    }

    func refused(_ error: MessageError) {
        let refusal = agenda.refused(error, at: clock.now, using: &random)
        refusalHeard()
        followRetries()
        switch refusal {
        case .retried:
            break
        case .final(.token):
            break  // The worker ends the session when the old token expires; then the client reconnects.
        case .final(.join(let conversation)), .final(.endMembers(let conversation)):
            show(RollcallError(error), of: conversation)
        case .final(.get(let fetch, _)):
            endFetch(fetch)
        case .final(.stop(let stop)):
            endStop(stop, published: false)
        case .final(.watch), .final(.unwatch), .final(.leave), .final(.state):
            report(RollcallError(error))
        case .final(nil):
            // Usually a typing signal. The field keeps signalling, so a temporary refusal is not reported. Nor is
            // `not_joined`, which follows a join whose refusal was reported.
            if !error.retry, error.code != .notJoined { report(RollcallError(error)) }
        }
    }

    func removed(from conversation: ConversationID) {
        agenda.removed(from: conversation, at: clock.now, using: &random)
        refusalHeard()
        followRetries()
        show(RollcallError(.notAMember, "the user is no longer a member"), of: conversation)
    }

    private func show(_ error: RollcallError, of conversation: ConversationID) {
        rooms[conversation]?.refused(error)
        membersRefused(in: conversation, error)
    }

    func endStop(_ id: StopID, published: Bool) {
        stops.removeValue(forKey: id)?(published)
    }

    /// Ends the calls that wait for a stop, because the connection ended. The worker then ends the typing without it.
    func endStops() {
        for id in stops.keys { endStop(id, published: false) }
    }
}
