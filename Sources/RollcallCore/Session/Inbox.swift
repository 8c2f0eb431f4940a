// What clients send: each message is charged to its user, waits while the user cannot afford it or the token is not proven,
// and then goes to the owner of what it is about.

internal import DequeModule
internal import RollcallProtocol

/// Takes the messages of clients. Those that wait are the session's.
final class Inbox {
    private let loop: Loop
    private let budgets: UserBudgets
    private let outbound: Outbound
    private let persons: Persons
    private let watches: Watches
    private let conversations: Conversations
    private let records: DeviceRecords
    private let hereRecords: HereRecords
    private let sessions: Sessions

    init(
        _ loop: Loop, _ budgets: UserBudgets, _ outbound: Outbound, _ persons: Persons, _ watches: Watches,
        _ conversations: Conversations, _ records: DeviceRecords, _ hereRecords: HereRecords, _ sessions: Sessions
    ) {
        (self.loop, self.budgets, self.outbound, self.watches) = (loop, budgets, outbound, watches)
        (self.conversations, self.records, self.hereRecords) = (conversations, records, hereRecords)
        (self.persons, self.sessions) = (persons, sessions)
    }

    /// Handles a valid message from a client.
    func received(_ request: ClientRequest, on session: Session, at now: Instant) {
        guard mayTake(cost(of: request.message, on: session), on: session, at: now) else {
            return keep(.request(request), on: session, at: now)
        }
        handle(request, came: now, on: session, at: now)
    }

    /// Handles an invalid message from a client; the session goes on.
    func received(_ error: MessageError, on session: Session, at now: Instant) {
        guard mayTake(1, on: session, at: now) else { return keep(.error(error), on: session, at: now) }
        handle(error, on: session, at: now)
    }

    /// Handles a text frame that holds no JSON object.
    func receivedGarbage(on session: Session, at now: Instant) {
        guard mayTake(1, on: session, at: now) else { return keep(.garbage, on: session, at: now) }
        handle(nil, on: session, at: now)
    }

    /// Keeps what came until it may be processed.
    private func keep(_ said: ReceivedMessage, on session: Session, at now: Instant) {
        guard session.isConnected else { return }
        // The edge stops reading from a held session. When a connection ends, however, it passes on everything it has
        // received. And a session in this process has no socket in which messages could wait.
        guard session.held?.count ?? 0 < ShardSettings.heldMessages else {
            return sessions.end(session, .flood, at: now)
        }
        if session.held == nil, let user = session.user {
            session.hold()
            session.peer?.limitHit(.messageRate)
            budgets.waits(session, of: user, at: now)
            // Messages are processed in groups: one timer for each would cost more than the message.
            loop.remind(.turns(user), at: now + ShardSettings.slowedPause)
        }
        session.keep(said, came: now)
    }

    /// Processes the messages of a welcomed session that waited until its token was checked. Before the welcome, this
    /// does nothing.
    func proven(_ session: Session, at now: Instant) {
        guard session.isUnproven && session.phase == .open, let user = session.user else { return }
        session.proven()
        guard session.held?.next != nil else { return session.listen() }
        budgets.waits(session, of: user, at: now)
        takeTurns(of: user, at: now)
    }

    /// Processes messages of a user's sessions that wait: each session's in order, one at each of its turns, and as fast as
    /// the user's budget allows.
    func takeTurns(of user: UserID, at now: Instant) {
        let cost = { [self] (session: Session) -> Int in
            if case .request(let request) = session.held?.next?.said {
                self.cost(of: request.message, on: session)
            } else {
                1
            }
        }
        while let turn = budgets.takeTurn(of: user, at: now, cost: cost) {
            switch turn {
            case .later(let next): return loop.remind(.turns(user), at: max(next, now + ShardSettings.slowedPause))
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
        if let error, session.phase == .open { return outbound.deliver(.error(error), to: session) }
        sessions.end(session, .badMessage(), at: now)
    }

    /// - Parameter came: when the message arrived, which is before `now` if it had to wait.
    private func handle(_ request: ClientRequest, came: Instant, on session: Session, at now: Instant) {
        session.peer?.took()
        let id = request.id
        switch request.message {
        case .hello(let hello) where session.phase == .greeting:
            session.hold()
            sessions.greeted(hello, id: id, on: session, at: now)
        case _ where session.phase == .greeting, .hello: sessions.end(session, .badMessage(), at: now)
        case .token(let token):
            sessions.refresh(token, id: id, on: session, at: now)
        case .state(let state):
            if state == .background { conversations.stopTypingEverywhere(session, at: now) }
            records.stateChanged(session, to: state, id: id, at: now)
        case .watch(let users): watches.watch(users, id: id, on: session, at: now)
        case .unwatch(let users): watches.unwatch(users, id: id, on: session)
        case .get(let users): watches.get(users, id: id, on: session, at: now)
        case .join(let conversation, let presence, let here):
            conversations.join(conversation, presence: presence, here: here, id: id, on: session, at: now)
        case .enter(let conversation, let data):
            conversations.enter(conversation, data, id: id, on: session, at: now)
        case .exit(let conversation): conversations.exit(conversation, id: id, on: session, at: now)
        case .leave(let conversation): conversations.leave(conversation, id: id, on: session, at: now)
        case .typing(let conversation, let typing, let kind):
            loop.tally.typingSignals += 1
            // Typing ends at its expiry, no matter how long the signal waited.
            guard !typing || now < came + loop.settings.typing.expiry else {
                return outbound.acknowledge(id, to: session)
            }
            conversations.typed(typing, kind, in: conversation, id: id, on: session, at: came)
        case .person(let patch): persons.set(patch, id: id, on: session, at: now)
        case .ping: outbound.deliver(.pong(time: loop.redis.time(at: now)), to: session)
        case .goodbye:
            outbound.acknowledge(id, to: session)
            sessions.end(session, .goodbye, at: now)
        }
    }

    private func cost(of message: ClientMessage, on session: Session) -> Int {
        if case .state = message {
            message.cost(loop.settings.limits, entries: hereRecords.count(of: session))
        } else {
            message.cost(loop.settings.limits)
        }
    }

    /// Whether a message of a connected session may be processed at once: nothing else of its user waits, and the user can
    /// afford it. Then it is charged.
    private func mayTake(_ cost: Int, on session: Session, at now: Instant) -> Bool {
        guard session.held == nil && session.isConnected else { return false }
        return session.user.map { budgets.charge(cost, to: $0, at: now) } ?? true
    }
}

// MARK: Messages that wait

/// What a client sent: a valid message, an invalid one, or no JSON object.
enum ReceivedMessage: Hashable, Sendable {
    case request(ClientRequest)
    case error(MessageError)
    case garbage

    var isGoodbye: Bool {
        if case .request(let request) = self, case .goodbye = request.message { return true }
        return false
    }
}

/// Messages that wait to be processed, in order.
struct MessageQueue: Sendable {
    private var said = Deque<(said: ReceivedMessage, came: Instant)>()

    var count: Int { said.count }
    var next: (said: ReceivedMessage, came: Instant)? { said.first }
    var hasGoodbye: Bool { said.contains { $0.said.isGoodbye } }

    mutating func append(_ new: ReceivedMessage, came: Instant) { said.append((new, came)) }
    mutating func takeNext() -> (said: ReceivedMessage, came: Instant)? { said.popFirst() }
}
