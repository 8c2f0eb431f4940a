// Typing as it goes out: one device's signals, throttled, to Redis.

public import RollcallModel

extension Shard {
    /// A signal was answered by Redis.
    public mutating func typingSignalled(
        _ outcome: TypingOutcome, _ signal: TypingSignal, for key: SessionKey, id: MessageID?
    ) -> [ShardAction] {
        switch outcome {
        case .typing:
            tally.typingPublished += 1
            acknowledge(id, to: key)
        case .late:
            acknowledge(id, to: key)
        case .notAMember:
            if let room = roomKeys[signal.conversation] { sessions[key]?.refused(in: room) }
            answer(key, .notAMember, id: id, Self.notAMember)
        }
        return take()
    }

    /// A stop was published, or was late.
    public mutating func typingStopped(for key: SessionKey, id: MessageID?) -> [ShardAction] {
        tally.typingPublished += 1
        acknowledge(id, to: key)
        return take()
    }

    /// A signal did not reach Redis. Typing is weather: the person's next keystrokes say it again.
    public mutating func signalFailed(for key: SessionKey, id: MessageID?) -> [ShardAction] {
        if let id { answerUnavailable(key, id: id) }
        return take()
    }

    /// A stop did not reach Redis; it is owed until its expiry.
    public mutating func stopFailed(_ stop: TypingSignal, for key: SessionKey?, id: MessageID?) -> [ShardAction] {
        owedStops.append(stop)
        if let key, let id { answerUnavailable(key, id: id) }
        return take()
    }

    mutating func typed(
        _ typing: Bool, in conversation: ConversationID, id: MessageID?, on key: SessionKey, at now: Instant
    ) {
        guard let room = roomKeys[conversation], sessions.read(key, { $0.hasJoined(room) }) == true else {
            if let room = roomKeys[conversation], sessions[key]?.joining.contains(room) == true {
                return typedWhileJoining(typing, in: room, id: id, on: key, at: now)
            }
            return answer(key, .notJoined, id: id, "join the conversation first")
        }
        guard isRedisAvailable || !typing else { return answerUnavailable(key, id: id) }
        let (time, rules) = (redisTime(at: now), settings.typing)
        let decision =
            typing
            ? sessions[key]?.signalled(in: room, rules, at: now, time: time)
            : sessions[key]?.stopped(in: room)
        if let decision {
            carryOut(decision, in: conversation, for: key, id: id)
        } else {
            if typing { tally.typingThrottled += 1 }
            acknowledge(id, to: key)
        }
        remindOfTyping(key)
    }

    mutating func stopTypingEverywhere(_ key: SessionKey, at now: Instant) {
        for sender in sessions[key]?.senders ?? [] { stopTyping(key, in: sender.room) }
        for room in sessions[key]?.joining ?? [] { dropHeldTyping(key, in: room) }
    }

    mutating func stopTyping(_ key: SessionKey, in room: RoomKey) {
        guard let decision = sessions[key]?.stopped(in: room), let conversation = rooms[room]?.conversation
        else { return }
        carryOut(decision, in: conversation, for: key, id: nil)
    }

    /// A deferred signal may go on, or a typing that was not renewed ends.
    mutating func typingDue(_ key: SessionKey, at now: Instant) {
        for (index, sender) in (sessions[key]?.senders ?? []).enumerated() {
            guard let conversation = rooms[sender.room]?.conversation else { continue }
            while let decision = sessions[key]?.senders[index].typing.due(at: now) {
                carryOut(decision, in: conversation, for: key, id: nil)
            }
        }
        remindOfTyping(key)
    }

    private mutating func carryOut(
        _ decision: TypingSender.Decision, in conversation: ConversationID, for key: SessionKey, id: MessageID?
    ) {
        guard let name = sessions.read(key, { $0.recorder?.name }) ?? nil else { return }
        switch decision {
        case .signal(let expiry):
            let signal = TypingSignal(
                user: name.user, device: name.device, conversation: conversation, expiry: expiry)
            actions.append(.signalTyping(signal, for: key, id: id))
        case .stop(let expiry):
            let stop = TypingSignal(user: name.user, device: name.device, conversation: conversation, expiry: expiry)
            actions.append(.stopTyping(stop, for: key, id: id))
        }
    }

    private mutating func remindOfTyping(_ key: SessionKey) {
        if let next = sessions.read(key, \.nextTypingDue) ?? nil {
            timers.remind(.typing(key), at: next)
        }
    }

    mutating func answerUnavailable(_ key: SessionKey, id: MessageID?) {
        answer(key, .unavailable, id: id, "Redis is away; try again in a moment")
    }
}
