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
        case enter(ConversationID)
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
    /// What this device has open, as it is and as the worker knows it.
    private var entries: [ConversationID: HereData?] = [:]
    private var entriesTold: [ConversationID: HereData?] = [:]
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
    var isCut: Bool { budget.lacking != nil }
    /// Unanswered joins with presence: each costs in advance what it may show.
    private var charged: [ConversationID: Int] = [:]
    /// Whether more users or conversations are wanted than the worker serves one session.
    private(set) var isBeyondLimits = false
    private var forNow = Retry(shortest: .zero, first: .milliseconds(250), longest: .seconds(15))
    /// An app may open a conversation before its server has set the members, and a removed user may be added again. No
    /// worker tells a session of that which has not joined.
    private var forGood = Retry(shortest: .seconds(2), first: .seconds(4), longest: .seconds(58))
    /// Refused for now: whether the state, a token, users to get, and entries.
    private var again: (state: Bool, token: String?, gets: Set<UserID>, entries: Set<ConversationID>) = (
        false, nil, [], []
    )
    private var unanswered: [MessageID: Subject] = [:]
    private var lastID: Int64 = 0

    init(at now: ContinuousClock.Instant) {
        budget = MessageBudget(at: now)
    }

    var deadline: ContinuousClock.Instant? {
        earliest(earliest(forNow.deadline, forGood.deadline), budget.nextRoom)
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        if forNow.isDue(at: now) {
            users.retry(.forNow)
            conversations.retry(.forNow)
            if again.state { stateTold = nil }
            token = token ?? again.token
            gets.formUnion(again.gets)
            for conversation in again.entries { entriesTold[conversation] = nil }
            again = (false, nil, [], [])
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
        (signals, gets, getting, token, entriesTold) = ([], [], nil, nil, [:])
        again = (false, nil, [], [])
        charged = [:]
        budget.lacking = nil
        (forNow.deadline, forGood.deadline) = (nil, nil)
        unanswered = [:]
    }

    /// Counts a message that does not come from here.
    mutating func spend(at now: ContinuousClock.Instant) {
        budget.count(at: now)
        budget.spend(1)
    }

    /// Has this device have a conversation open, with this data, or not.
    mutating func enter(_ conversation: ConversationID, _ data: HereData??) {
        entries[conversation] = data
        again.entries.remove(conversation)
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
    /// Handles that the members of a conversation were shown: a join for which it was charged costs what it showed.
    mutating func membersShown(_ count: Int, in conversation: ConversationID) {
        guard let joins = charged.removeValue(forKey: conversation) else { return }
        budget.spend(-joins * ClientMessage.refund(showing: count, limits))
    }

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
            charged[name] = nil
            tries = conversations.refuse(name, mayBeRetried ? .forNow : .forGood, message: message).map { [$0] } ?? []
            if tries.isEmpty { return nil }
        case .get(let names):
            if getting?.id == id {
                if mayBeRetried { again.gets.formUnion(getting?.users.intersection(names) ?? []) }
                getting = nil
            }
        case .enter(let name):
            // It follows a join whose refusal is reported.
            if error.code == .notJoined { return nil }
            if mayBeRetried { again.entries.insert(name) }
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
        entriesTold[conversation] = nil
        guard conversations.refuse(conversation, .forGood) != nil, conversations.isWanted(conversation) else { return }
        forGood.refused(isFirst: true, at: now, using: &random)
    }
}

// Messages.
extension Outbox {
    /// Removes and returns the messages to send now. They count as sent from now on.
    mutating func take(at now: ContinuousClock.Instant) -> [ClientRequest] {
        budget.beginTurn(at: now)
        var taken: [ClientRequest] = []
        takeSignals(into: &taken)
        if let token, mayTake(.token(ByteString(token))) {
            lastToken = ask(.token(token))
            taken.append(ClientRequest(.token(ByteString(token)), id: lastToken))
            (self.token, again.token) = (nil, nil)
        }
        if let state, state != stateTold, mayTake(.state(state)) {
            taken.append(ClientRequest(.state(state), id: ask(.state)))
            stateTold = state
        }
        while let conversation = conversations.surplus.min(), mayTake(.leave(conversation)) {
            conversations.giveUp([conversation])
            entriesTold[conversation] = nil
            taken.append(ClientRequest(.leave(conversation)))
        }
        while users.hasSurplus {
            let names = Array(users.surplus.sorted().prefix(usersPerMessage))
            guard mayTake(.unwatch(names)) else { break }
            users.giveUp(names)
            taken.append(ClientRequest(.unwatch(names)))
        }
        for conversation in conversations.next(.max, room: conversationRoom) {
            let parts = conversations.wanted(conversation)
            let message = ClientMessage.join(
                conversation, presence: parts.contains(.members), here: parts.contains(.here))
            guard mayTake(message) else { break }
            // One that was refused knows nothing of what was entered there.
            if !conversations.isServed(conversation) { entriesTold[conversation] = nil }
            if parts.contains(.members) { charged[conversation, default: 0] += 1 }
            let id = ask(.join(conversation))
            conversations.ask(conversation, message: lastID)
            taken.append(ClientRequest(message, id: id))
        }
        takeEntries(into: &taken)
        takeSignals(into: &taken)
        while users.hasDue {
            let names = users.next(usersPerMessage, room: userRoom)
            guard !names.isEmpty, mayTake(.watch(names)) else { break }
            let id = ask(.watch(names))
            for name in names { users.ask(name, message: lastID) }
            taken.append(ClientRequest(.watch(names), id: id))
        }
        if !gets.isEmpty, getting == nil {
            let names = Array(gets.sorted().prefix(min(usersPerMessage, limits.watchedUsers)))
            if mayTake(.get(names)) {
                gets.subtract(names)
                let id = ask(.get(names))
                getting = (id, Set(names))
                taken.append(ClientRequest(.get(names), id: id))
            }
        }
        isBeyondLimits = !isCut && (users.hasDue || conversations.hasDue)
        return taken
    }

    private mutating func mayTake(_ message: ClientMessage) -> Bool {
        budget.takes(message.cost(limits, entries: entriesTold.count))
    }

    /// Takes what has changed of what this device has open, in conversations that are joined or were just asked for.
    private mutating func takeEntries(into taken: inout [ClientRequest]) {
        let all = Set(entries.keys).union(entriesTold.keys)
        guard !all.isEmpty else { return }
        for conversation in all.sorted() where conversations.isServed(conversation) {
            let (wanted, told) = (entries[conversation], entriesTold[conversation])
            guard wanted != told else { continue }
            let message = wanted.map { ClientMessage.enter(conversation, data: $0) } ?? .exit(conversation)
            guard mayTake(message) else { return }
            entriesTold[conversation] = wanted
            taken.append(ClientRequest(message, id: wanted == nil ? nil : ask(.enter(conversation))))
        }
    }

    /// Takes the signals of joined conversations. Others wait for a join that is due, or are dropped if none is to come.
    private mutating func takeSignals(into taken: inout [ClientRequest]) {
        guard !signals.isEmpty else { return }
        var waiting: [Signal] = []
        for signal in signals {
            let message = ClientMessage.typing(signal.conversation, signal.typing, kind: signal.kind)
            if conversations.isServed(signal.conversation) {
                guard mayTake(message) else {
                    waiting.append(signal)
                    continue
                }
                taken.append(ClientRequest(message, id: signal.stop.map { ask(.stop($0)) }))
            } else if conversationRoom > 0 && conversations.isDue(signal.conversation) {
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
        Self(watchedUsers: 1000, joinedConversations: 200, messageBytes: 8192, messageRate: 10, messageBurst: 30)
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

/// How many messages the client may send now. A worker lets a session wait that sends more. The client uses only three
/// quarters of the allowed burst and nine tenths of the rate, since a network may bunch messages that were sent evenly, and
/// keeps one message for a `ping`.
private struct MessageBudget {
    /// Enough for the hello and for what a view needs, until the worker has stated its limits.
    private var perSecond = 10.0
    private var capacity = 30.0
    private var tokens = 30.0
    private var counted: ContinuousClock.Instant
    /// What the cheapest message costs that did not fit in this turn; `nil` if all fitted.
    var lacking: Double?

    init(at now: ContinuousClock.Instant) {
        counted = now
    }

    mutating func limitsLearnt(_ limits: ServerMessage.Limits, at now: ContinuousClock.Instant) {
        count(at: now)
        let spent = capacity - tokens
        perSecond = max(1, Double(limits.messageRate) * 0.9)
        capacity = max(2, Double(limits.messageBurst) * 0.75)
        tokens = max(0, capacity - spent)
    }

    mutating func beginTurn(at now: ContinuousClock.Instant) {
        count(at: now)
        lacking = nil
    }

    /// - Parameter cost: what the message costs. One that costs more than fits is taken once all is regained.
    mutating func takes(_ cost: Int) -> Bool {
        let needed = min(Double(cost) + 1, capacity)
        guard tokens >= needed else {
            lacking = min(lacking ?? needed, needed)
            return false
        }
        spend(cost)
        return true
    }

    mutating func spend(_ messages: Int) { tokens -= Double(messages) }

    /// When a message fits that did not.
    var nextRoom: ContinuousClock.Instant? {
        lacking.map { counted + .seconds(max(0, $0 - tokens) / perSecond) }
    }

    mutating func count(at now: ContinuousClock.Instant) {
        let elapsed = max(.zero, now - counted)
        tokens = min(capacity, tokens + elapsed / .seconds(1) * perSecond)
        counted = now
    }
}

/// The earlier of two moments, if there is one.
func earliest(_ one: ContinuousClock.Instant?, _ other: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
