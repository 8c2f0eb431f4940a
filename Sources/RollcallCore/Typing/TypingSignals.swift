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

extension Shard {
    /// Handles Redis's reply to a typing signal.
    ///
    /// - Parameter isAwaited: whether the device has had no answer yet: a signal that the throttle held back was acknowledged.
    func typingSignalled(
        _ reply: Result<TypingOutcome, StoreFailure>, _ signal: TypingSignal, for session: Session, id: MessageID?,
        isAwaited: Bool
    ) {
        switch try? reply.get() {
        // Not retried: the user's next keystrokes cause another.
        case nil: if isAwaited { answerUnavailable(session, id: id) }
        case .typing:
            tally.typingPublished += 1
            acknowledge(id, to: session)
            stopAgain(signal, of: session)
        case .late:
            acknowledge(id, to: session)
        case .notAMember:
            // The session may have ended before the reply.
            let room = rooms[signal.conversation]
            if let room { session.refused(in: room) }
            answer(session, .notAMember, id: id, notAMember(of: room))
        }
    }

    /// Stops a signal that took effect after its own stop, which is possible if Redis did not know the signal's script or
    /// the slot was moving. The stop has ended nothing then.
    private func stopAgain(_ signal: TypingSignal, of session: Session) {
        guard !session.isTyping(in: signal.conversation), !repairs.stops.contains(signal) else { return }
        send(stop: signal)
    }

    /// Asks Redis to end a device's typing.
    func send(stop: TypingSignal) {
        repairs.stops.sent(stop)
        store.stopTyping(stop) { [self] reply in
            after { shard, now in
                switch reply {
                case .success: shard.typingStopped(stop)
                case .failure: shard.stopFailed(stop, at: now)
                }
            }
        }
    }

    /// Handles a stop that was published, or came too late to change anything.
    func typingStopped(_ stop: TypingSignal) {
        tally.typingPublished += 1
        for waiting in repairs.stops.published(stop) { acknowledge(waiting.id, to: waiting.session) }
    }

    /// Handles a stop that did not reach Redis. It is retried until its expiry.
    func stopFailed(_ stop: TypingSignal, at now: Instant) {
        for waiting in repairs.stops.failed(stop, at: redis.time(at: now)) {
            answerUnavailable(waiting.session, id: waiting.id)
        }
    }

    func typed(
        _ typing: Bool, _ kind: TypingKind, in conversation: ConversationID, id: MessageID?, on session: Session,
        at now: Instant
    ) {
        guard let room = rooms[conversation], session.hasJoined(room) else {
            if let room = rooms[conversation], session.joining.contains(room) {
                return typedWhileJoining(typing, kind, in: room, of: conversation, id: id, on: session, at: now)
            }
            return answer(session, .notJoined, id: id, "join the conversation first")
        }
        guard redis.takesWrites || !typing else { return answerUnavailable(session, id: id) }
        let (time, rules) = (redis.time(at: now), settings.typing)
        let decision =
            typing
            ? session.signalled(kind, in: room, of: conversation, rules, at: now, time: time)
            : session.stopped(in: room)
        if let decision { carryOut(decision, in: conversation, for: session, id: typing ? id : nil, isAwaited: typing) }
        if typing, decision == nil {
            tally.typingThrottled += 1
            acknowledge(id, to: session)
        }
        if !typing { acknowledge(id, onceStoppedIn: conversation, to: session, at: now) }
        remindOfTyping(session)
    }

    /// Acknowledges a message that ended the device's typing, once all its stops are published.
    func acknowledge(
        _ id: MessageID?, onceStoppedIn conversation: ConversationID, to session: Session, at now: Instant
    ) {
        guard let id else { return }
        guard let name = session.recorder?.name else { return acknowledge(id, to: session) }
        switch repairs.stops.delivery(of: name, in: conversation, at: redis.time(at: now)) {
        case .published: acknowledge(id, to: session)
        case .inFlight:
            repairs.stops.ackWhenPublished(PendingStops.Waiting(session: session, id: id), name, in: conversation)
        case .failed: answerUnavailable(session, id: id)
        }
    }

    func stopTypingEverywhere(_ session: Session, at now: Instant) {
        for room in session.typesIn { stopTyping(session, in: room) }
        for room in session.joining { dropDeferredTyping(session, in: room) }
    }

    func stopTyping(_ session: Session, in room: Room) {
        guard let decision = session.stopped(in: room) else { return }
        carryOut(decision, in: room.conversation, for: session)
    }

    /// Sends deferred typing signals that are due, and ends typing that was not renewed.
    func typingDue(_ session: Session, at now: Instant) {
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
            store.signalTyping(signal, isOpen: session.right.opens(conversation)) { [self] reply in
                after { shard, _ in
                    shard.typingSignalled(reply, signal, for: session, id: id, isAwaited: isAwaited)
                }
            }
        case .stop(let expiry):
            send(stop: TypingSignal(user: name.user, device: name.device, conversation: conversation, expiry: expiry))
        }
    }

    private func remindOfTyping(_ session: Session) {
        if let next = session.nextTypingDue {
            timers.remind(.typing(session), at: next)
        }
    }

    func answerUnavailable(_ session: Session, id: MessageID?) {
        answer(session, .unavailable, id: id, "Redis is away or takes no writes; try again in a moment")
    }
}
