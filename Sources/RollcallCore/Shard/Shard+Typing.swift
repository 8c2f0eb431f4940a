// Outgoing typing: the throttled signals of devices, sent to Redis.

package import RollcallModel

extension Shard {
    /// Handles Redis's reply to a typing signal.
    package func typingSignalled(
        _ outcome: TypingOutcome, _ signal: TypingSignal, for key: SessionKey, id: MessageID?
    ) -> [ShardAction] {
        switch outcome {
        case .typing:
            tally.typingPublished += 1
            acknowledge(id, to: key)
            stopAgain(signal, of: key)
        case .late:
            acknowledge(id, to: key)
        case .notAMember:
            // The session may have ended before the reply.
            let room = rooms[signal.conversation]
            if let room { sessions.changeIfPresent(key) { $0.refused(in: room) } }
            answer(key, .notAMember, id: id, notAMember(of: room))
        }
        return take()
    }

    /// Stops a signal that took effect after its own stop, which is possible if Redis did not know the signal's script or
    /// the slot was moving. The stop has ended nothing then.
    private func stopAgain(_ signal: TypingSignal, of key: SessionKey) {
        let isTyping = sessions.read(key) { session in
            session.senders.contains { $0.conversation == signal.conversation && $0.typing.isSignalled }
        }
        guard isTyping != true, !repairs.stops.contains(signal) else { return }
        repairs.stops.sent(signal)
        actions.append(.store(.stopTyping(.init(stop: signal))))
    }

    /// Handles a stop that was published, or came too late to change anything.
    package func typingStopped(_ stop: TypingSignal) -> [ShardAction] {
        tally.typingPublished += 1
        for waiting in repairs.stops.published(stop) { acknowledge(waiting.id, to: waiting.session) }
        return take()
    }

    /// Handles a typing signal that did not reach Redis. It is not retried: the user's next keystrokes cause another.
    package func signalFailed(for key: SessionKey, id: MessageID?) -> [ShardAction] {
        if let id { answerUnavailable(key, id: id) }
        return take()
    }

    /// Handles a stop that did not reach Redis. It is retried until its expiry.
    package func stopFailed(_ stop: TypingSignal, at now: Instant) -> [ShardAction] {
        for waiting in repairs.stops.failed(stop, at: redis.time(at: now)) {
            answerUnavailable(waiting.session, id: waiting.id)
        }
        return take()
    }

    func typed(
        _ typing: Bool, _ kind: TypingKind, in conversation: ConversationID, id: MessageID?, on key: SessionKey,
        at now: Instant
    ) {
        guard let room = rooms[conversation], sessions.read(key, { $0.hasJoined(room) }) == true else {
            if let room = rooms[conversation], sessions[key]?.joining.contains(room) == true {
                return typedWhileJoining(typing, kind, in: room, of: conversation, id: id, on: key, at: now)
            }
            return answer(key, .notJoined, id: id, "join the conversation first")
        }
        guard redis.takesWrites || !typing else { return answerUnavailable(key, id: id) }
        let (time, rules) = (redis.time(at: now), settings.typing)
        let decision = sessions.change(key) {
            typing
                ? $0.signalled(kind, in: room, of: conversation, rules, at: now, time: time)
                : $0.stopped(in: room)
        }.flatMap { $0 }
        if let decision { carryOut(decision, in: conversation, for: key, id: typing ? id : nil) }
        if typing, decision == nil {
            tally.typingThrottled += 1
            acknowledge(id, to: key)
        }
        if !typing { acknowledge(id, onceStoppedIn: conversation, to: key, at: now) }
        remindOfTyping(key)
    }

    /// Acknowledges a message that ended the device's typing, once all its stops are published.
    func acknowledge(
        _ id: MessageID?, onceStoppedIn conversation: ConversationID, to key: SessionKey, at now: Instant
    ) {
        guard let id else { return }
        guard let name = sessions.read(key, { $0.recorder?.name }) ?? nil else { return acknowledge(id, to: key) }
        switch repairs.stops.delivery(of: name, in: conversation, at: redis.time(at: now)) {
        case .published: acknowledge(id, to: key)
        case .inFlight:
            repairs.stops.ackWhenPublished(PendingStops.Waiting(session: key, id: id), name, in: conversation)
        case .failed: answerUnavailable(key, id: id)
        }
    }

    func stopTypingEverywhere(_ key: SessionKey, at now: Instant) {
        for room in sessions[key]?.senders.compactMap(\.room) ?? [] { stopTyping(key, in: room) }
        for room in sessions[key]?.joining ?? [] { dropDeferredTyping(key, in: room) }
    }

    func stopTyping(_ key: SessionKey, in room: Room) {
        guard let decision = sessions.change(key, { $0.stopped(in: room) }) ?? nil else { return }
        carryOut(decision, in: room.conversation, for: key, id: nil)
    }

    /// Sends deferred typing signals that are due, and ends typing that was not renewed.
    func typingDue(_ key: SessionKey, at now: Instant) {
        for (index, sender) in (sessions[key]?.senders ?? []).enumerated() {
            while let decision = sessions.change(key, { $0.senders[index].typing.due(at: now) }) ?? nil {
                carryOut(decision, in: sender.conversation, for: key, id: nil)
            }
        }
        remindOfTyping(key)
    }

    private func carryOut(
        _ decision: TypingSender.Decision, in conversation: ConversationID, for key: SessionKey, id: MessageID?
    ) {
        guard let name = sessions.read(key, { $0.recorder?.name }) ?? nil else { return }
        switch decision {
        case .signal(let expiry, let kind):
            let signal = TypingSignal(
                user: name.user, device: name.device, conversation: conversation, expiry: expiry, kind: kind)
            let isOpen = sessions.read(key) { $0.right.opens(conversation) } == true
            actions.append(.store(.signalTyping(.init(signal: signal, isOpen: isOpen, key: key, id: id))))
        case .stop(let expiry, let kind):
            let stop = TypingSignal(
                user: name.user, device: name.device, conversation: conversation, expiry: expiry, kind: kind)
            repairs.stops.sent(stop)
            actions.append(.store(.stopTyping(.init(stop: stop))))
        }
    }

    private func remindOfTyping(_ key: SessionKey) {
        if let next = sessions.read(key, \.nextTypingDue) ?? nil {
            timers.remind(.typing(key), at: next)
        }
    }

    func answerUnavailable(_ key: SessionKey, id: MessageID?) {
        answer(key, .unavailable, id: id, "Redis is away or takes no writes; try again in a moment")
    }
}
