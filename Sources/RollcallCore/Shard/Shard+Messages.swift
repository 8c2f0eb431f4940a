// What clients say, message by message.

public import RollcallModel

extension Shard {
    /// A client's message arrived whole.
    public mutating func received(_ request: ClientRequest, on key: SessionKey, at now: Instant) -> [ShardAction] {
        if admit(key, at: now) { heard(.request(request), on: key, at: now) }
        return take()
    }

    /// A client's message was no message of this protocol; the session goes on.
    public mutating func received(_ error: MessageError, on key: SessionKey, at now: Instant) -> [ShardAction] {
        if admit(key, at: now) { heard(.error(error), on: key, at: now) }
        return take()
    }

    /// A text frame held no JSON object.
    public mutating func receivedGarbage(on key: SessionKey, at now: Instant) -> [ShardAction] {
        if admit(key, at: now) { heard(.garbage, on: key, at: now) }
        return take()
    }

    /// Takes what a session says, or keeps it until the session is heard.
    private mutating func heard(_ said: Session.Said, on key: SessionKey, at now: Instant) {
        guard sessions.read(key, { $0.held == nil }) != false else {
            sessions[key]?.held?.append(said)
            return
        }
        switch (said, sessions.read(key) { $0.phase }) {
        case (.request(let request), _): handle(request, on: key, at: now)
        case (.error(let error), .open): actions.append(.send(.error(error), to: [key]))
        case (.error, .greeting), (.garbage, .greeting), (.garbage, .open): close(key, .badMessage, at: now)
        case (_, .authenticating), (_, .inGrace), (_, .ending), (_, nil): break
        }
    }

    /// Nothing of what a session says is taken for now: a stranger's token is looked at.
    private mutating func hold(_ key: SessionKey) {
        sessions[key]?.held = []
        actions.append(.hold(key))
    }

    /// A session is heard from now on, and what it has said so far is taken. It is nobody's yet whose token is not judged.
    mutating func listen(to key: SessionKey, at now: Instant) {
        guard case .open = sessions[key]?.phase, let held = sessions[key]?.held else { return }
        sessions[key]?.held = nil
        actions.append(.listen(key))
        for said in held { heard(said, on: key, at: now) }
    }

    private mutating func handle(_ request: ClientRequest, on key: SessionKey, at now: Instant) {
        guard let phase = sessions.read(key, { $0.phase }) else { return }
        switch (phase, request.message) {
        case (.greeting, .hello(let hello)):
            hold(key)
            sessions[key]?.phase = .authenticating(hello, id: request.id, since: now)
            actions.append(.authenticate(key, token: hello.token, device: hello.device, id: request.id))
        case (.greeting, _), (.open, .hello):
            close(key, .badMessage, at: now)
        case (.open, let message):
            handle(message, id: request.id, on: key, at: now)
        case (.authenticating, _), (.inGrace, _), (.ending, _):
            break
        }
    }

    private mutating func handle(_ message: ClientMessage, id: MessageID?, on key: SessionKey, at now: Instant) {
        switch message {
        case .hello: break
        case .token(let token):
            let device = sessions[key]?.recorder?.name.device
            actions.append(.authenticate(key, token: token, device: device, id: id))
        case .state(let state): stateChanged(key, to: state, id: id, at: now)
        case .watch(let users): watch(users, id: id, on: key, at: now)
        case .unwatch(let users): unwatch(users, id: id, on: key)
        case .get(let users): get(users, id: id, on: key, at: now)
        case .join(let conversation, let presence): join(conversation, presence: presence, id: id, on: key)
        case .leave(let conversation): leave(conversation, id: id, on: key, at: now)
        case .typing(let conversation, let typing):
            tally.typingSignals += 1
            typed(typing, in: conversation, id: id, on: key, at: now)
        case .ping: actions.append(.send(.pong(time: redisTime(at: now)), to: [key]))
        case .goodbye: goodbye(key, id: id, at: now)
        }
    }

    /// Counts a message against the session's rate; over it, the session ends.
    private mutating func admit(_ key: SessionKey, at now: Instant) -> Bool {
        guard sessions.read(key, { $0.isConnected }) == true else { return false }
        if sessions[key]?.bucket.take(at: now) == true { return true }
        actions.append(.limitHit(.messageRate, key))
        actions.append(.send(.goodbye(.init(reason: .limit, reconnect: false)), to: [key]))
        close(key, .tooManyMessages, at: now)
        return false
    }
}
