// What the worker must be sent, in which order and how fast, and what follows from its refusals.

/// A call that waits until the end of typing is published. Used on the client's queue only.
final class Stop {
    let deadline: ContinuousClock.Instant
    let done: (Bool) -> Void

    init(deadline: ContinuousClock.Instant, done: @escaping (Bool) -> Void) {
        self.deadline = deadline
        self.done = done
    }
}

/// The messages that are due. The user's own typing goes first, because people wait for it, then what makes room at the
/// worker, then what asks for more. A message that is outdated before it is sent is never sent.
struct Outbox {
    /// What a message that is answered was about.
    enum Subject {
        case watch([UserID])
        case join(ConversationID)
        case get([UserID])
        case stop(Stop)
        case state
        case token(String)
    }

    private struct Signal {
        let conversation: ConversationID
        let typing: Bool
        let kind: TypingKind
        let stop: Stop?
    }

    var users = Subscriptions<UserID>()
    var conversations = Subscriptions<ConversationID>()
    /// Users whose presence is wanted once. They are asked for in one message at a time.
    var gets: Set<UserID> = []
    private var getting: (id: MessageID, users: Set<UserID>)?
    /// The device's state, as it is and as the worker knows it.
    var state: DeviceState?
    private var stateTold: DeviceState?
    /// A fresh token for the worker, and the last message that had one.
    var token: String?
    private var lastToken: MessageID?
    private var signals: [Signal] = []
    private var limits = ServerMessage.Limits.beforeWelcome
    private var hasLimits = false
    private var budget: MessageBudget
    /// Whether messages wait because of the worker's rate limit.
    private(set) var isCut = false
    /// Whether more users or conversations are wanted than the worker serves one session.
    private(set) var isBeyondLimits = false
    private var forNow = Retry(shortest: .zero, first: .milliseconds(250), longest: .seconds(15))
    /// An app may open a conversation before its server has set the members, and a removed user may be added again. No
    /// worker tells a session of that which has not joined.
    private var forGood = Retry(shortest: .seconds(2), first: .seconds(4), longest: .seconds(58))
    /// Refused for now: whether the state, a token, and users to get.
    private var again: (state: Bool, token: String?, gets: Set<UserID>) = (false, nil, [])
    private var unanswered: [MessageID: Subject] = [:]
    private var lastID: Int64 = 0

    init(at now: ContinuousClock.Instant) {
        budget = MessageBudget(at: now)
    }

    var deadline: ContinuousClock.Instant? {
        earliest(earliest(forNow.deadline, forGood.deadline), isCut ? budget.nextRoom : nil)
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        if forNow.isDue(at: now) {
            users.retry(.forNow)
            conversations.retry(.forNow)
            if again.state { stateTold = nil }
            token = token ?? again.token
            gets.formUnion(again.gets)
            again = (false, nil, [])
        }
        if forGood.isDue(at: now) {
            users.retry(.forGood)
            conversations.retry(.forGood)
        }
    }

    /// Handles a new connection, on which only the hello was sent, with the device's state.
    mutating func connectionOpened(_ state: DeviceState, at now: ContinuousClock.Instant) {
        (self.state, stateTold) = (state, state)
        budget = MessageBudget(at: now)
        if hasLimits { budget.limitsLearnt(limits, at: now) }
        budget.spend(1)
    }

    mutating func limitsLearnt(_ limits: ServerMessage.Limits, at now: ContinuousClock.Instant) {
        self.limits = limits
        hasLimits = true
        budget.limitsLearnt(limits, at: now)
    }

    /// Resets what belongs to the old connection. Typing signals are dropped, never queued.
    mutating func connectionLost() {
        users.connectionLost()
        conversations.connectionLost()
        (signals, gets, getting, token) = ([], [], nil, nil)
        (again, isCut) = ((false, nil, []), false)
        (forNow.deadline, forGood.deadline) = (nil, nil)
        unanswered = [:]
    }

    /// Counts a message that does not come from here.
    mutating func spend() {
        budget.spend(1)
    }

    /// Queues a signal. It replaces an unsent signal of the same conversation, unless a call waits for that one.
    mutating func signalled(
        _ typing: Bool, kind: TypingKind = .typing, in conversation: ConversationID, stop: Stop? = nil
    ) {
        signals.removeAll { $0.conversation == conversation && $0.stop == nil }
        signals.append(Signal(conversation: conversation, typing: typing, kind: kind, stop: stop))
    }
}

// Answers.
extension Outbox {
    /// Returns the subject of an acknowledged message. The answer to a `get` is presence, which may come later.
    mutating func acknowledged(_ id: MessageID) -> Subject? {
        if case .get = unanswered[id] { return nil }
        return unanswered.removeValue(forKey: id)
    }

    /// Handles presence that answers a message.
    ///
    /// - Returns: whether a `get` awaits it.
    mutating func received(_ users: some Sequence<UserID>, answering id: MessageID?) -> Bool {
        guard let id, getting?.id == id else { return false }
        getting?.users.subtract(users)
        endGet()
        return true
    }

    /// Handles that nobody waits for these users any more.
    mutating func getEnded(_ users: some Sequence<UserID>) {
        gets.subtract(users)
        again.gets.subtract(users)
        getting?.users.subtract(users)
        endGet()
    }

    private mutating func endGet() {
        guard let getting, getting.users.isEmpty else { return }
        unanswered[getting.id] = nil
        self.getting = nil
    }

    /// Handles the worker's refusal of a message.
    ///
    /// `limit` is final for the app, but is asked for again too: there is room after something else was given up, and a
    /// session that met the limit before the worker stated it asks for less from then on.
    ///
    /// - Returns: the subject, and whether the app should know; `nil` if the message no longer matters.
    mutating func refused(
        _ error: MessageError, at now: ContinuousClock.Instant, using random: inout Jitter
    ) -> (subject: Subject, isFinal: Bool)? {
        guard let id = error.id, case .integer(let message) = id, let subject = unanswered.removeValue(forKey: id)
        else { return nil }
        let mayBeRetried = error.retry || error.code == .limit
        var tries: [Int] = []
        switch subject {
        case .watch(let names):
            tries = names.compactMap { users.refuse($0, mayBeRetried ? .forNow : .forGood, message: message) }
            if tries.isEmpty { return nil }
        case .join(let name):
            tries = conversations.refuse(name, mayBeRetried ? .forNow : .forGood, message: message).map { [$0] } ?? []
            if tries.isEmpty { return nil }
        case .get(let names):
            if getting?.id == id {
                if mayBeRetried { again.gets.formUnion(getting?.users.intersection(names) ?? []) }
                getting = nil
            }
        case .state: again.state = again.state || error.retry
        case .token(let token): if error.retry, id == lastToken { again.token = token }
        // A stop is not sent again: the waiting call returns at once, and the typing expires at the worker.
        case .stop: return (subject, true)
        }
        if mayBeRetried {
            forNow.refused(isFirst: false, at: now, using: &random)
        } else if !tries.isEmpty {
            forGood.refused(isFirst: tries.contains(0), at: now, using: &random)
        }
        if case .get = subject { return (subject, !mayBeRetried) }
        return (subject, !error.retry)
    }

    /// Handles that the worker ended a conversation, because the user is no longer a member.
    mutating func removed(
        from conversation: ConversationID, at now: ContinuousClock.Instant, using random: inout Jitter
    ) {
        guard conversations.refuse(conversation, .forGood) != nil, conversations.isWanted(conversation) else { return }
        forGood.refused(isFirst: true, at: now, using: &random)
    }
}

// Messages.
extension Outbox {
    /// Removes and returns the messages to send now. They count as sent from now on.
    mutating func take(at now: ContinuousClock.Instant) -> [ClientRequest] {
        let allowance = budget.allowance(at: now)
        var taken: [ClientRequest] = []
        func room() -> Int { allowance - taken.count }
        takeSignals(allowance, into: &taken)
        if let token, room() > 0 {
            lastToken = ask(.token(token))
            taken.append(ClientRequest(.token(ByteString(token)), id: lastToken))
            (self.token, again.token) = (nil, nil)
        }
        if let state, state != stateTold, room() > 0 {
            taken.append(ClientRequest(.state(state), id: ask(.state)))
            stateTold = state
        }
        for conversation in conversations.giveUp(room()) { taken.append(ClientRequest(.leave(conversation))) }
        while room() > 0, users.hasSurplus { taken.append(ClientRequest(.unwatch(users.giveUp(usersPerMessage)))) }
        for conversation in conversations.next(room(), room: conversationRoom) {
            let id = ask(.join(conversation))
            let presence = conversations.ask(conversation, message: lastID)
            taken.append(ClientRequest(.join(conversation, presence: presence), id: id))
        }
        takeSignals(allowance, into: &taken)
        while room() > 0, users.hasDue {
            let names = users.next(usersPerMessage, room: userRoom)
            if names.isEmpty { break }
            let id = ask(.watch(names))
            for name in names { users.ask(name, message: lastID) }
            taken.append(ClientRequest(.watch(names), id: id))
        }
        if room() > 0, !gets.isEmpty, getting == nil {
            let names = Array(gets.sorted().prefix(min(usersPerMessage, limits.watchedUsers)))
            gets.subtract(names)
            let id = ask(.get(names))
            getting = (id, Set(names))
            taken.append(ClientRequest(.get(names), id: id))
        }
        budget.spend(taken.reduce(0) { $0 + $1.message.cost })
        isCut = room() <= 0 && hasMore
        isBeyondLimits = room() > 0 && (users.hasDue || conversations.hasDue)
        return taken
    }

    private var hasMore: Bool {
        state != stateTold || token != nil || !signals.isEmpty || users.hasSurplus || conversations.hasSurplus
            || !gets.isEmpty && getting == nil || !users.next(1, room: userRoom).isEmpty
            || !conversations.next(1, room: conversationRoom).isEmpty
    }

    /// Takes the signals of joined conversations. Others wait for a join that is due, or are dropped if none is to come.
    private mutating func takeSignals(_ allowance: Int, into taken: inout [ClientRequest]) {
        guard !signals.isEmpty else { return }
        var waiting: [Signal] = []
        for signal in signals {
            if conversations.isServed(signal.conversation), taken.count < allowance {
                let id = signal.stop.map { ask(.stop($0)) }
                taken.append(ClientRequest(.typing(signal.conversation, signal.typing, kind: signal.kind), id: id))
            } else if conversations.isServed(signal.conversation)
                || conversationRoom > 0 && conversations.isDue(signal.conversation)
            {
                waiting.append(signal)
            }
        }
        signals = waiting
    }

    private mutating func ask(_ subject: Subject) -> MessageID {
        lastID += 1
        unanswered[.integer(lastID)] = subject
        return .integer(lastID)
    }

    private var userRoom: Int { limits.watchedUsers - users.servedCount }
    private var conversationRoom: Int { limits.joinedConversations - conversations.servedCount }

    /// How many names certainly fit into one message. A name has at most 128 bytes; escaped in JSON, it takes up to
    /// twice that, with quotes and a comma 260 bytes.
    private var usersPerMessage: Int { max(1, (limits.messageBytes - 128) / 260) }
}

extension ServerMessage.Limits {
    /// The limits that apply until the worker has stated its own. Every worker should accept these.
    fileprivate static var beforeWelcome: Self {
        Self(watchedUsers: 1000, joinedConversations: 200, messageBytes: 8192, messageRate: 10, messageBurst: 20)
    }
}

/// When to ask again for what was refused: pauses that all share, and that are short again when nothing was refused for a
/// while.
private struct Retry {
    private let shortest: Duration
    private let longest: Duration
    private var backoff: Backoff
    private var lastRefusal: ContinuousClock.Instant?
    var deadline: ContinuousClock.Instant?

    init(shortest: Duration, first: Duration, longest: Duration) {
        self.shortest = shortest
        self.longest = shortest + longest
        backoff = Backoff(first: first, longest: longest)
    }

    /// Refusals before the next attempt count as one, but a name that is refused for the first time does not wait long.
    mutating func refused(isFirst: Bool, at now: ContinuousClock.Instant, using random: inout Jitter) {
        if isFirst || lastRefusal.map({ now - $0 > longest * 2 }) ?? true { backoff.reset() }
        lastRefusal = now
        guard isFirst || deadline == nil else { return }
        deadline = earliest(deadline, now + shortest + backoff.failed(using: &random))
    }

    /// - Returns: whether the next attempt begins.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        self.deadline = nil
        return true
    }
}

/// How many messages the client may send now. A worker closes a session that sends too many (4103). The client therefore
/// uses only three quarters of the allowed burst and nine tenths of the rate, since a network may bunch messages that
/// were sent evenly.
private struct MessageBudget {
    /// Enough for the hello and for what a view needs, until the worker has stated its limits.
    private var perSecond = 10.0
    private var capacity = 20.0
    private var tokens = 20.0
    private var counted: ContinuousClock.Instant

    init(at now: ContinuousClock.Instant) {
        counted = now
    }

    mutating func limitsLearnt(_ limits: ServerMessage.Limits, at now: ContinuousClock.Instant) {
        let spent = capacity - available(at: now)
        perSecond = max(1, Double(limits.messageRate) * 0.9)
        capacity = max(1, Double(limits.messageBurst) * 0.75)
        tokens = max(0, capacity - spent)
    }

    mutating func allowance(at now: ContinuousClock.Instant) -> Int { max(0, Int(available(at: now))) }

    /// A message that counts as several may exceed what is left. Then the next message waits until all are regained.
    mutating func spend(_ messages: Int) {
        tokens -= Double(messages)
    }

    /// When another message may be sent.
    var nextRoom: ContinuousClock.Instant { counted + .seconds(max(0, 1 - tokens) / perSecond) }

    private mutating func available(at now: ContinuousClock.Instant) -> Double {
        let elapsed = max(.zero, now - counted)
        tokens = min(capacity, tokens + elapsed / .seconds(1) * perSecond)
        counted = now
        return tokens
    }
}

/// The earlier of two moments, if there is one.
func earliest(_ one: ContinuousClock.Instant?, _ other: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
