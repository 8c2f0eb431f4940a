// Handling of client messages.

public import RollcallModel

extension Shard {
    /// Handles a valid message from a client.
    public func received(_ request: ClientRequest, on key: SessionKey, at now: Instant) -> [ShardAction] {
        heard(.request(request), on: key, at: now)
        return take()
    }

    /// Handles an invalid message from a client; the session goes on.
    public func received(_ error: MessageError, on key: SessionKey, at now: Instant) -> [ShardAction] {
        heard(.error(error), on: key, at: now)
        return take()
    }

    /// Handles a text frame that holds no JSON object.
    public func receivedGarbage(on key: SessionKey, at now: Instant) -> [ShardAction] {
        heard(.garbage, on: key, at: now)
        return take()
    }

    /// Processes a message, or queues it until the session's budgets allow it.
    private func heard(_ said: Session.Said, on key: SessionKey, at now: Instant) {
        guard sessions.read(key, { $0.isConnected }) == true else { return }
        let isHeld = sessions.read(key, { $0.held != nil }) == true
        if !isHeld, mayTake(said, on: key, at: now) { return handle(said, came: now, on: key, at: now) }
        if !isHeld { hold(key) }
        // The edge stops reading from a held session. When a connection ends, however, it passes on everything it has
        // received. And a session in this process has no socket in which messages could wait.
        guard let held = sessions.read(key, { $0.held?.count ?? 0 }), held < ShardSettings.heldMessages else {
            actions.append(.send(.goodbye(.init(reason: .limit, reconnect: false)), to: [key]))
            return close(key, .tooManyMessages, at: now)
        }
        sessions.change(key) { $0.held?.append(said, came: now) }
    }

    /// - Parameter came: when the message arrived, which is before `now` if it had to wait.
    private func handle(_ said: Session.Said, came: Instant, on key: SessionKey, at now: Instant) {
        switch (said, sessions.read(key) { $0.phase }) {
        case (.request(let request), _): handle(request, came: came, on: key, at: now)
        case (.error(let error), .open): actions.append(.send(.error(error), to: [key]))
        case (.error, .greeting), (.garbage, .greeting), (.garbage, .open): close(key, .badMessage, at: now)
        case (_, .authenticating), (_, .inGrace), (_, .ending), (_, nil): break
        }
    }

    /// Stops processing a session's messages for now.
    private func hold(_ key: SessionKey) {
        sessions.change(key) { $0.held = Session.Held() }
        actions.append(.hold(key))
    }

    /// Processes the messages of a welcomed session that waited until its token was checked. Before the welcome, this
    /// does nothing.
    func listen(to key: SessionKey, at now: Instant) {
        guard sessions.read(key, { $0.isUnproven && $0.phase == .open }) == true else { return }
        sessions.change(key) { $0.isUnproven = false }
        takeHeld(key, at: now)
    }

    /// Processes a session's waiting messages, in order and as fast as its budgets allow.
    func takeHeld(_ key: SessionKey, at now: Instant) {
        while sessions.read(key, { $0.phase == .open && !$0.isUnproven }) == true {
            guard let held = sessions.read(key, { $0.held }) ?? nil else { return }
            guard let (said, came) = held.next else {
                sessions.change(key) { $0.held = nil }
                actions.append(.listen(key))
                return
            }
            guard mayTake(said, on: key, at: now) else { return }
            sessions.change(key) { $0.held?.removeNext() }
            handle(said, came: came, on: key, at: now)
        }
    }

    private func handle(_ request: ClientRequest, came: Instant, on key: SessionKey, at now: Instant) {
        guard let phase = sessions.read(key, { $0.phase }) else { return }
        switch (phase, request.message) {
        case (.greeting, .hello(let hello)):
            hold(key)
            sessions.change(key) {
                $0.isUnproven = true
                $0.phase = .authenticating(hello, id: request.id)
            }
            actions.append(.authenticate(key, token: hello.token, device: hello.device, id: request.id))
        case (.greeting, _), (.open, .hello):
            close(key, .badMessage, at: now)
        case (.open, let message):
            handle(message, id: request.id, came: came, on: key, at: now)
        case (.authenticating, _), (.inGrace, _), (.ending, _):
            break
        }
    }

    private func handle(
        _ message: ClientMessage, id: MessageID?, came: Instant, on key: SessionKey, at now: Instant
    ) {
        switch message {
        case .hello: break
        case .token(let token):
            let device = sessions[key]?.recorder?.name.device
            actions.append(.authenticate(key, token: token, device: device, id: id))
        case .state(let state): stateChanged(key, to: state, id: id, at: now)
        case .watch(let users): watch(users, id: id, on: key, at: now)
        case .unwatch(let users): unwatch(users, id: id, on: key)
        case .get(let users): get(users, id: id, on: key, at: now)
        case .join(let conversation, let presence): join(conversation, presence: presence, id: id, on: key, at: now)
        case .leave(let conversation): leave(conversation, id: id, on: key, at: now)
        case .typing(let conversation, let typing, let kind):
            tally.typingSignals += 1
            // Typing ends at its expiry, no matter how long the signal waited.
            guard !typing || now < came + settings.typing.expiry else { return acknowledge(id, to: key) }
            typed(typing, kind, in: conversation, id: id, on: key, at: came)
        case .ping: actions.append(.send(.pong(time: redis.time(at: now)), to: [key]))
        case .goodbye: goodbye(key, id: id, at: now)
        }
    }

    /// Charges a message to the budget of the session's user. If the budget lacks what the message costs, sets a reminder
    /// for when it will have it.
    private func mayTake(_ said: Session.Said, on key: SessionKey, at now: Instant) -> Bool {
        guard let user = sessions.read(key, { $0.user }) ?? nil,
            let next = budgets.charge(said.cost(settings.limits), to: user, at: now)
        else { return true }
        if sessions.read(key, { $0.held == nil }) == true { actions.append(.limitHit(.messageRate, key)) }
        // Messages are processed in groups: one timer for each would cost more than the message.
        timers.remind(.held(key), at: max(next, now + ShardSettings.slowedPause))
        return false
    }
}
