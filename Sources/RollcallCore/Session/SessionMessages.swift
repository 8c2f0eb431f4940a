// Handling of client messages.

public import RollcallProtocol

extension Shard {
    /// Handles a valid message from a client.
    public func received(_ request: ClientRequest, on session: Session, at now: Instant) {
        guard mayTake(request.message.cost(settings.limits), on: session, at: now) else {
            return keep(.request(request), on: session, at: now)
        }
        handle(request, came: now, on: session, at: now)
    }

    /// Handles an invalid message from a client; the session goes on.
    public func received(_ error: MessageError, on session: Session, at now: Instant) {
        guard mayTake(1, on: session, at: now) else { return keep(.error(error), on: session, at: now) }
        handle(error, on: session, at: now)
    }

    /// Handles a text frame that holds no JSON object.
    public func receivedGarbage(on session: Session, at now: Instant) {
        guard mayTake(1, on: session, at: now) else { return keep(.garbage, on: session, at: now) }
        handle(nil, on: session, at: now)
    }

    /// Keeps what came until it may be processed.
    private func keep(_ said: Session.Said, on session: Session, at now: Instant) {
        guard session.isConnected else { return }
        // The edge stops reading from a held session. When a connection ends, however, it passes on everything it has
        // received. And a session in this process has no socket in which messages could wait.
        guard session.held?.count ?? 0 < ShardSettings.heldMessages else {
            return end(session, .flood, at: now)
        }
        if session.held == nil, let user = session.user {
            session.hold()
            session.peer?.limitHit(.messageRate)
            budgets.waits(session, of: user, at: now)
            // Messages are processed in groups: one timer for each would cost more than the message.
            timers.remind(.turns(user), at: now + ShardSettings.slowedPause)
        }
        session.keep(said, came: now)
    }

    /// Processes the messages of a welcomed session that waited until its token was checked. Before the welcome, this
    /// does nothing.
    func listen(to session: Session, at now: Instant) {
        guard session.isUnproven && session.phase == .open, let user = session.user else { return }
        session.proven()
        guard session.held?.next != nil else { return session.listen() }
        budgets.waits(session, of: user, at: now)
        takeTurns(of: user, at: now)
    }

    /// Processes messages of a user's sessions that wait: each session's in order, one at each of its turns, and as fast as
    /// the user's budget allows.
    func takeTurns(of user: UserID, at now: Instant) {
        let cost = { [settings] (session: Session) in session.held?.next?.said.cost(settings.limits) ?? 0 }
        while let turn = budgets.takeTurn(of: user, at: now, cost: cost) {
            switch turn {
            case .later(let next): return timers.remind(.turns(user), at: max(next, now + ShardSettings.slowedPause))
            case .of(let session):
                guard let (said, came) = session.takeHeld() else { continue }
                switch said {
                case .request(let request): handle(request, came: came, on: session, at: now)
                case .error(let error): handle(error, on: session, at: now)
                case .garbage: handle(nil, on: session, at: now)
                }
                guard session.phase == .open else { continue }
                if session.held?.next == nil { session.listen() } else { budgets.waits(session, of: user, at: now) }
            }
        }
    }

    /// - Parameter error: `nil` for what is no JSON object.
    private func handle(_ error: MessageError?, on session: Session, at now: Instant) {
        session.peer?.took()
        if let error, session.phase == .open { return deliver(.error(error), to: session) }
        end(session, .badMessage(), at: now)
    }

    /// - Parameter came: when the message arrived, which is before `now` if it had to wait.
    private func handle(_ request: ClientRequest, came: Instant, on session: Session, at now: Instant) {
        session.peer?.took()
        let id = request.id
        switch request.message {
        case .hello(let hello) where session.phase == .greeting:
            session.hold()
            greeted(hello, id: id, on: session, at: now)
        case _ where session.phase == .greeting, .hello: end(session, .badMessage(), at: now)
        case .token(let token):
            refresh(token, id: id, on: session, at: now)
        case .state(let state): stateChanged(session, to: state, id: id, at: now)
        case .watch(let users): watch(users, id: id, on: session, at: now)
        case .unwatch(let users): unwatch(users, id: id, on: session)
        case .get(let users): get(users, id: id, on: session, at: now)
        case .join(let conversation, let presence): join(conversation, presence: presence, id: id, on: session, at: now)
        case .leave(let conversation): leave(conversation, id: id, on: session, at: now)
        case .typing(let conversation, let typing, let kind):
            tally.typingSignals += 1
            // Typing ends at its expiry, no matter how long the signal waited.
            guard !typing || now < came + settings.typing.expiry else { return acknowledge(id, to: session) }
            typed(typing, kind, in: conversation, id: id, on: session, at: came)
        case .ping: deliver(.pong(time: redis.time(at: now)), to: session)
        case .goodbye:
            acknowledge(id, to: session)
            end(session, .goodbye, at: now)
        }
    }

    /// Whether a message of a connected session may be processed at once: nothing else of its user waits, and the user can
    /// afford it. Then it is charged.
    private func mayTake(_ cost: Int, on session: Session, at now: Instant) -> Bool {
        guard session.held == nil && session.isConnected else { return false }
        return session.user.map { budgets.charge(cost, to: $0, at: now) } ?? true
    }
}
