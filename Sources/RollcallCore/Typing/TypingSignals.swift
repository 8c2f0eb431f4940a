// Outgoing typing: what a device's signal meets on its way to Redis, and how it is answered.
//
// | what it meets | answer |
// |---|---|
// | the session has not joined the conversation | `not_joined` |
// | the session is joining it | waits for the join, with the latest signal only; a stop is taken at once |
// | it waited for longer than typing lasts | acknowledged |
// | Redis is known to be away or to refuse writes, or the signal is lost in flight | `unavailable` |
// | the throttle | acknowledged; sent when the throttle allows, if the user still types |
// | Redis says that the user is not a member | `not_a_member` |
// | Redis holds a later stop of the device | acknowledged |
// | nothing: other workers are told | acknowledged |
//
// A stop is acknowledged once it is published, and retried until its typing would have expired anyway.

internal import RollcallProtocol

/// Owns the stops that Redis has not confirmed yet. What a session has signalled is the session's.
final class TypingSignals {
    private let loop: Loop
    private let outbound: Outbound
    private let rooms: Directory<ConversationID, Room>
    private let persons: Persons
    /// In flight to Redis, or not delivered to it.
    private var stops = PendingStops()

    init(_ loop: Loop, _ outbound: Outbound, _ rooms: Directory<ConversationID, Room>, _ persons: Persons) {
        (self.loop, self.outbound, self.rooms, self.persons) = (loop, outbound, rooms, persons)
    }

    var stopCount: Int { stops.count }

    /// Handles Redis's reply to a typing signal.
    ///
    /// - Parameter isAwaited: whether the device has had no answer yet: a signal that the throttle held back was acknowledged.
    private func typingSignalled(
        _ reply: Result<TypingOutcome, StoreFailure>, _ signal: TypingSignal, for session: Session, id: MessageID?,
        isAwaited: Bool
    ) {
        switch try? reply.get() {
        // Not retried: the user's next keystrokes cause another.
        case nil: if isAwaited { outbound.answerUnavailable(session, id: id) }
        case .typing:
            loop.tally.typingPublished += 1
            outbound.acknowledge(id, to: session)
            stopAgain(signal, of: session)
        case .late:
            outbound.acknowledge(id, to: session)
        case .notAMember:
            // The session may have ended before the reply.
            let room = rooms[signal.conversation]
            if let room { session.refused(in: room) }
            outbound.answer(session, .notAMember, id: id, notAMember(of: room))
        }
    }

    /// Stops a signal that took effect after its own stop, which is possible if Redis did not know the signal's script or
    /// the slot was moving. The stop has ended nothing then.
    private func stopAgain(_ signal: TypingSignal, of session: Session) {
        guard !session.isTyping(in: signal.conversation), !stops.contains(signal) else { return }
        send(stop: signal)
    }

    /// Asks Redis to end a device's typing.
    private func send(stop: TypingSignal) {
        stops.sent(stop)
        loop.store.stopTyping(stop) { [self] reply in
            loop.after { now in
                switch reply {
                case .success: typingStopped(stop)
                case .failure: stopFailed(stop, at: now)
                }
            }
        }
    }

    /// Handles a stop that was published, or came too late to change anything.
    private func typingStopped(_ stop: TypingSignal) {
        loop.tally.typingPublished += 1
        for waiting in stops.published(stop) { outbound.acknowledge(waiting.id, to: waiting.session) }
    }

    /// Handles a stop that did not reach Redis. It is retried until its expiry.
    private func stopFailed(_ stop: TypingSignal, at now: Instant) {
        for waiting in stops.failed(stop, at: loop.redis.time(at: now)) {
            outbound.answerUnavailable(waiting.session, id: waiting.id)
        }
    }

    /// Handles a typing signal in a conversation that the session has joined.
    func typed(
        _ typing: Bool, _ kind: TypingKind, in room: Room, of conversation: ConversationID, id: MessageID?,
        on session: Session, at now: Instant
    ) {
        guard loop.redis.takesWrites || !typing else { return outbound.answerUnavailable(session, id: id) }
        if typing, let user = session.user {
            switch persons.isInvisible(user) {
            case nil: return outbound.answerUnavailable(session, id: id)
            case true?: return outbound.acknowledge(id, to: session)
            case false?: break
            }
        }
        let (time, rules) = (loop.redis.time(at: now), loop.settings.typing)
        let decision =
            typing
            ? session.signalled(kind, in: room, of: conversation, rules, at: now, time: time)
            : session.stopped(in: room)
        if let decision { carryOut(decision, in: conversation, for: session, id: typing ? id : nil, isAwaited: typing) }
        if typing, decision == nil {
            loop.tally.typingThrottled += 1
            outbound.acknowledge(id, to: session)
        }
        if !typing { acknowledge(id, onceStoppedIn: conversation, to: session, at: now) }
        remindOfTyping(session)
    }

    /// Acknowledges a message that ended the device's typing, once all its stops are published.
    func acknowledge(
        _ id: MessageID?, onceStoppedIn conversation: ConversationID, to session: Session, at now: Instant
    ) {
        guard let id else { return }
        guard let name = session.recorder?.name else { return outbound.acknowledge(id, to: session) }
        switch stops.delivery(of: name, in: conversation, at: loop.redis.time(at: now)) {
        case .published: outbound.acknowledge(id, to: session)
        case .inFlight:
            stops.ackWhenPublished(PendingStops.Waiting(session: session, id: id), name, in: conversation)
        case .failed: outbound.answerUnavailable(session, id: id)
        }
    }

    func stop(_ session: Session, in room: Room) {
        guard let decision = session.stopped(in: room) else { return }
        carryOut(decision, in: room.conversation, for: session)
    }

    /// Sends deferred typing signals that are due, and ends typing that was not renewed.
    func due(_ session: Session, at now: Instant) {
        for (conversation, decision) in session.typingDue(at: now) {
            carryOut(decision, in: conversation, for: session)
        }
        remindOfTyping(session)
    }

    private func carryOut(
        _ decision: TypingSender.Decision, in conversation: ConversationID, for session: Session, id: MessageID? = nil,
        isAwaited: Bool = false
    ) {
        guard let name = session.recorder?.name else { return }
        switch decision {
        case .signal(let expiry, let kind):
            let signal = TypingSignal(
                user: name.user, device: name.device, conversation: conversation, expiry: expiry, kind: kind,
                name: session.recorder?.profile.name)
            // Where an app's server is asked, whoever has joined may type.
            let isOpen = loop.settings.asksAccess || session.right.covers(conversation)
            loop.store.signalTyping(signal, isOpen: isOpen) { [self] reply in
                loop.after { _ in
                    typingSignalled(reply, signal, for: session, id: id, isAwaited: isAwaited)
                }
            }
        case .stop(let expiry):
            send(stop: TypingSignal(user: name.user, device: name.device, conversation: conversation, expiry: expiry))
        }
    }

    private func remindOfTyping(_ session: Session) {
        if let next = session.nextTypingDue {
            loop.remind(.typing(session), at: next)
        }
    }

    /// Sends the stops again that did not reach Redis, once it takes writes.
    func retryStops(at now: Instant) {
        guard loop.redis.takesWrites else { return }
        for stop in stops.takeFailed(at: loop.redis.time(at: now)) {
            send(stop: stop)
        }
    }

    /// Why a session may not join or type.
    func notAMember(of room: Room?) -> String {
        if room?.isManaged == false, loop.settings.asksAccess {
            return "the app's server, which access.url names, does not let you in"
        }
        return room?.isManaged == false
            ? "the conversation is closed, since its members were never set: set them with PUT /v1/conversations/{c}/members, "
                + "name it in the token's claim join, or set conversations.default: open"
            : "you are not a member of this conversation"
    }
}
