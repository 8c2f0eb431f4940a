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
        case person
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
    /// Where a limit forbids what was sent last, or data that is too long was not sent: the worker does not show it.
    private var entriesLimited: Set<ConversationID> = []
    /// How often this device may change its entry in a conversation: a worker publishes no more often.
    private var entryPaces: [ConversationID: EntryPace] = [:]
    private var entryInterval = Duration.milliseconds(500)
    /// When an entry is due that waits for its pace.
    private var entryDue: ContinuousClock.Instant?
    private var isBeyondEntries = false
    /// Why something was not sent, for the app. The reader empties it.
    var problems: [RollcallError] = []
    /// Users whose presence is wanted once. They are asked for in one message at a time.
    var gets: Set<UserID> = []
    private var getting: (id: MessageID, users: Set<UserID>)?
    /// The device's state, as it is and as the worker knows it.
    var state: DeviceState?
    private var stateTold: DeviceState?
    /// A fresh token for the worker, and the last message that had one.
    var token: String?
    private var lastToken: MessageID?
    /// What the app has set of its user: what is to be sent, and what was sent and is not answered.
    private(set) var person: (due: PersonPatch?, sent: PersonPatch?) = (nil, nil)
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
    private var again: (state: Bool, token: String?, gets: Set<UserID>, entries: Set<ConversationID>, person: Bool) = (
        false, nil, [], [], false
    )
    private var unanswered: [MessageID: Subject] = [:]
    private var lastID: Int64 = 0
    /// The last message that was sent before this connection's worker had stated its limits.
    private var lastEarlyID = Int64.max

    init(at now: ContinuousClock.Instant) {
        budget = MessageBudget(at: now)
    }

    var deadline: ContinuousClock.Instant? {
        earliest(earliest(forNow.deadline, forGood.deadline), earliest(budget.nextRoom, entryDue))
    }

    mutating func deadlinePassed(at now: ContinuousClock.Instant) {
        if forNow.isDue(at: now) {
            users.retry(.forNow)
            conversations.retry(.forNow)
            if again.state { stateTold = nil }
            token = token ?? again.token
            gets.formUnion(again.gets)
            for conversation in again.entries { entriesTold[conversation] = nil }
            again = (false, nil, [], [], false)
        }
        if forGood.isDue(at: now) {
            users.retry(.forGood)
            conversations.retry(.forGood)
        }
    }

    /// Handles a new connection, on which only the hello was sent, with the device's state.
    mutating func connectionOpened(_ state: DeviceState, at now: ContinuousClock.Instant) {
        (self.state, stateTold) = (state, state)
        lastEarlyID = .max
        budget = MessageBudget(at: now)
        if hasLimits { budget.limitsLearnt(limits, at: now) }
        budget.spend(1)
    }

    /// - Parameter interval: the worker's `presence.coalesce`.
    mutating func limitsLearnt(
        _ limits: ServerMessage.Limits, entriesEvery interval: Duration, at now: ContinuousClock.Instant
    ) {
        self.limits = limits
        entryInterval = interval
        hasLimits = true
        budget.limitsLearnt(limits, at: now)
        lastEarlyID = lastID
    }

    /// Resets what belongs to the old connection. Typing signals are dropped, never queued.
    mutating func connectionLost() {
        users.connectionLost()
        conversations.connectionLost()
        (signals, gets, getting, token, entriesTold) = ([], [], nil, nil, [:])
        (entriesLimited, entryPaces, entryDue) = ([], [:], nil)
        again = (false, nil, [], [], false)
        personUnanswered()
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

    /// Sets something of the user, after what was set before.
    mutating func set(_ patch: PersonPatch) {
        var due = person.due ?? PersonPatch()
        due.merge(patch)
        person.due = due
    }

    /// The next user has not set it.
    mutating func forgetPerson() { person = (nil, nil) }

    /// What was sent is sent again, with what was set since.
    private mutating func personUnanswered() {
        guard var sent = person.sent else { return }
        if let due = person.due { sent.merge(due) }
        person = (sent, nil)
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
        let subject = unanswered.removeValue(forKey: id)
        if case .person = subject { person.sent = nil }
        return subject
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
    /// What a limit forbids is sent again when something else of the kind was given up.
    ///
    /// - Returns: the subject, and whether the app should know; `nil` if the message no longer matters.
    mutating func refused(
        _ error: MessageError, at now: ContinuousClock.Instant, using random: inout Jitter
    ) -> (subject: Subject, isFinal: Bool)? {
        guard let id = error.id, case .integer(let message) = id, let subject = unanswered.removeValue(forKey: id)
        else { return nil }
        let isEarly = error.code == .limit && message <= lastEarlyID
        let refusal: Refusal = error.retry || isEarly ? .forNow : error.code == .limit ? .limit : .forGood
        var tries: [Int] = []
        switch subject {
        case .watch(let names):
            tries = names.compactMap { users.refuse($0, refusal, message: message) }
            if tries.isEmpty { return nil }
        case .join(let name):
            charged[name] = nil
            tries = conversations.refuse(name, refusal, message: message).map { [$0] } ?? []
            if tries.isEmpty { return nil }
        case .get(let names):
            if getting?.id == id {
                if refusal == .forNow { again.gets.formUnion(getting?.users.intersection(names) ?? []) }
                getting = nil
            }
        case .enter(let name):
            // It follows a join whose refusal is reported.
            if error.code == .notJoined { return nil }
            switch refusal {
            case .forNow: again.entries.insert(name)
            case .limit: entriesLimited.insert(name)
            case .forGood: break
            }
        case .state: again.state = again.state || error.retry
        case .token(let token): if error.retry, id == lastToken { again.token = token }
        case .person:
            again.person = error.retry
            if error.retry { personUnanswered() } else { person.sent = nil }
        // A stop is not sent again: the waiting call returns at once, and the typing expires at the worker.
        case .stop: return (subject, true)
        }
        switch refusal {
        case .forNow: forNow.refused(isFirst: false, at: now, using: &random)
        case .forGood where !tries.isEmpty: forGood.refused(isFirst: tries.contains(0), at: now, using: &random)
        case .forGood, .limit: break
        }
        return (subject, !error.retry)
    }

    /// Handles that the worker ended a conversation, because the user is no longer a member.
    mutating func removed(
        from conversation: ConversationID, at now: ContinuousClock.Instant, using random: inout Jitter
    ) {
        entryEnded(conversation)
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
        if let patch = person.due, person.sent == nil, !again.person, mayTake(.person(patch)) {
            person = (nil, patch)
            taken.append(ClientRequest(.person(patch), id: ask(.person)))
        }
        if let state, state != stateTold, mayTake(.state(state)) {
            taken.append(ClientRequest(.state(state), id: ask(.state)))
            stateTold = state
        }
        while let conversation = conversations.surplus.min(), mayTake(.leave(conversation)) {
            conversations.giveUp([conversation])
            entryEnded(conversation)
            taken.append(ClientRequest(.leave(conversation)))
        }
        while users.hasSurplus {
            let names = fitting(users.surplus.sorted())
            guard mayTake(.unwatch(names)) else { break }
            users.giveUp(names)
            taken.append(ClientRequest(.unwatch(names)))
        }
        takeConversations(into: &taken, at: now)
        takeSignals(into: &taken)
        while users.hasDue {
            let names = fitting(users.next(usersPerMessage, room: userRoom))
            guard !names.isEmpty, mayTake(.watch(names)) else { break }
            let id = ask(.watch(names))
            for name in names { users.ask(name, message: lastID) }
            taken.append(ClientRequest(.watch(names), id: id))
        }
        if !gets.isEmpty, getting == nil {
            let names = fitting(gets.sorted().prefix(limits.watchedUsers))
            if mayTake(.get(names)) {
                gets.subtract(names)
                let id = ask(.get(names))
                getting = (id, Set(names))
                taken.append(ClientRequest(.get(names), id: id))
            }
        }
        isBeyondLimits = !isCut && (users.hasDue || conversations.hasDue || isBeyondEntries)
        return taken
    }

    /// Takes what conversations and this device's entries in them need. Conversations with an entry go first, together with it:
    /// after a reconnect it has only the grace period.
    private mutating func takeConversations(into taken: inout [ClientRequest], at now: ContinuousClock.Instant) {
        (entryDue, isBeyondEntries) = (nil, false)
        for conversation in entriesTold.keys.filter({ entries[$0] == nil }).sorted() {
            takeEntry(conversation, into: &taken, at: now)
        }
        for conversation in conversations.next(.max, room: conversationRoom, isFirst: { entries[$0] != nil }) {
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
            takeEntry(conversation, into: &taken, at: now)
        }
        for conversation in entries.keys.sorted() { takeEntry(conversation, into: &taken, at: now) }
    }

    private mutating func mayTake(_ message: ClientMessage) -> Bool {
        budget.takes(message.cost(limits, entries: entriesTold.count))
    }

    /// Takes what has changed of what this device has open there, if the conversation is joined or was just asked for.
    private mutating func takeEntry(
        _ conversation: ConversationID, into taken: inout [ClientRequest], at now: ContinuousClock.Instant
    ) {
        let (wanted, told) = (entries[conversation], entriesTold[conversation])
        guard wanted != told, conversations.isServed(conversation) else { return }
        guard let data = wanted else {
            guard mayTake(.exit(conversation)) else { return }
            entryEnded(conversation)
            return taken.append(ClientRequest(.exit(conversation)))
        }
        guard !isForbidden(data, in: conversation) else { return }
        var pace = entryPaces[conversation] ?? EntryPace(at: now)
        if let due = pace.next(every: entryInterval), due > now {
            entryDue = earliest(entryDue, due)
            return
        }
        let message = ClientMessage.enter(conversation, data: data)
        guard mayTake(message) else { return }
        pace.taken(at: now, every: entryInterval)
        entryPaces[conversation] = pace
        entriesTold[conversation] = data
        entriesLimited.remove(conversation)
        taken.append(ClientRequest(message, id: ask(.enter(conversation))))
    }

    /// Whether the worker's limits forbid an entry.
    private mutating func isForbidden(_ data: HereData?, in conversation: ConversationID) -> Bool {
        let bytes = data?.text.string.utf8.count ?? 0
        if bytes > limits.hereData {
            // It counts as sent, so that the app gets one problem; the worker goes on showing the previous data.
            entriesTold[conversation] = data
            entriesLimited.insert(conversation)
            problems.append(
                RollcallError(
                    .limit,
                    "what is shown in \(conversation) has \(bytes) bytes, and the worker allows \(limits.hereData)"))
            return true
        }
        let isNew = entriesTold[conversation] == nil || entriesLimited.contains(conversation)
        guard isNew, entriesTold.count - entriesLimited.count >= limits.enteredConversations else { return false }
        isBeyondEntries = true
        return true
    }

    /// Handles that this device is no longer there, so there may be room for what a limit forbade.
    private mutating func entryEnded(_ conversation: ConversationID) {
        guard entriesTold.removeValue(forKey: conversation) != nil else { return }
        for other in entriesLimited { entriesTold[other] = nil }
        entriesLimited = []
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

    /// How many users fit into one message, whose names have at most 128 bytes: escaped in JSON, a name takes up to twice its
    /// bytes, with quotes and a comma 260.
    private var usersPerMessage: Int { max(1, (limits.messageBytes - 128) / 260) }

    /// As many of these users as certainly fit into one message: names may have 255 bytes.
    private func fitting(_ users: some Sequence<UserID>) -> [UserID] {
        let users = Array(users.prefix(usersPerMessage))
        var room = limits.messageBytes - 128
        let fit = users.prefix {
            room -= 2 * $0.text.utf8.count + 4
            return room >= 0
        }
        return Array(users.prefix(max(1, fit.count)))
    }
}

extension ServerMessage.Limits {
    /// The limits that apply until the worker has stated its own. Every worker should accept these.
    fileprivate static var beforeWelcome: Self {
        Self(watchedUsers: 1000, joinedConversations: 200, messageBytes: 8192, messageRate: 10, messageBurst: 30)
    }
}

/// The earlier of two moments, if there is one.
func earliest(_ one: ContinuousClock.Instant?, _ other: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
