// What the worker must still be sent, and in which order: the user's own typing first, because people wait for it, then
// what frees room, then what asks for more. A message that is outdated before it is sent is dropped. What the worker
// refuses for now is sent again later, if it is still wanted.

/// The messages that bring the worker up to date.
struct Agenda {
    /// What a message with an id was about.
    enum Subject: Equatable {
        case watch([UserID])
        case unwatch([UserID])
        case join(ConversationID)
        /// A repeated join whose only purpose is to stop receiving the members.
        case endMembers(ConversationID)
        case leave(ConversationID)
        case get(FetchID, [UserID])
        case stop(StopID)
        case state(DeviceState)
        case token(String)

        /// The type of a message, without its content.
        enum Kind {
            case watch, unwatch, join, leave, get, typing, state, token
        }

        var kind: Kind {
            switch self {
            case .watch: .watch
            case .unwatch: .unwatch
            case .join, .endMembers: .join
            case .leave: .leave
            case .get: .get
            case .stop: .typing
            case .state: .state
            case .token: .token
            }
        }
    }

    /// How a refused message is handled.
    enum Refusal: Equatable {
        /// It is sent again later, if it is still wanted then.
        case retried
        /// The refusal is final; `nil` if the message no longer matters.
        case final(Subject?)
    }

    private struct Signal {
        var conversation: ConversationID
        var typing: Bool
        /// The call that waits for the acknowledgement of this stop, if any.
        var awaited: StopID?
    }

    private struct Get {
        let fetch: FetchID
        var users: ArraySlice<UserID>
    }

    var users = Wanted<UserID>()
    var conversations = Wanted<ConversationID>()
    /// The joined conversations whose members are wanted too.
    var gatherings = Wanted<ConversationID>()
    private var limits = ServerMessage.Limits.beforeWelcome
    private var state: DeviceState?
    private var token: String?
    private var signals: [Signal] = []
    private var gets: [Get] = []
    /// Refused for now; sent again at ``retryTime``.
    private var delayedState: DeviceState?
    private var delayedToken: String?
    private var delayedGets: [Get] = []
    private var retries = Retries()
    private var rejoins = Rejoins()
    private var unanswered: [MessageID: Subject] = [:]
    /// How many users each unanswered `get` names, including those for calls that have ended.
    private var getting: [MessageID: Int] = [:]
    private var lastID: Int64 = 0
    /// The last messages that contained the device's state and a fresh token.
    private var lastState: Int64 = 0
    private var lastToken: Int64 = 0

    /// Whether something is left that may be sent.
    var hasMore: Bool {
        state != nil || token != nil || signals.contains { conversations.wasTold($0.conversation) }
            || users.hasSurplus || conversations.hasSurplus || !gets.isEmpty && getRoom > 0
            || gatherings.isDue(where: conversations.wasTold)
            || users.hasMissing && userRoom > 0 || conversations.hasMissing && conversationRoom > 0
    }

    /// Whether more users or conversations are wanted than the worker allows one session.
    var isBeyondLimits: Bool {
        users.hasMissing && userRoom <= 0 || conversations.hasMissing && conversationRoom <= 0
    }

    /// When to call ``retryDue()``; `nil` if nothing waits to be sent again.
    var retryTime: ContinuousClock.Instant? { retries.deadline }

    /// When to call ``rejoinDue(at:)``; `nil` if the user is a member of all wanted conversations.
    var rejoinTime: ContinuousClock.Instant? { rejoins.deadline }

    mutating func limitsLearnt(_ limits: ServerMessage.Limits) {
        self.limits = limits
    }

    /// Asks for the conversation at once, also if the worker refused it before.
    mutating func conversationWanted(_ conversation: ConversationID) {
        rejoins.forget(conversation)
        conversations.want(conversation)
    }

    mutating func conversationUnwanted(_ conversation: ConversationID) {
        rejoins.forget(conversation)
        conversations.unwant(conversation)
    }

    mutating func stateChanged(to state: DeviceState) {
        self.state = state
        delayedState = nil
    }

    mutating func tokenRefreshed(_ token: String) {
        self.token = token
        delayedToken = nil
    }

    /// Queues a signal. It replaces an unsent signal of the same conversation, unless a call waits for that one. A stop
    /// in a conversation that is not joined is dropped, since there is nothing to end.
    mutating func signalled(_ typing: Bool, in conversation: ConversationID, awaited: StopID? = nil) {
        signals.removeAll { $0.conversation == conversation && $0.awaited == nil }
        guard typing || conversations.wasTold(conversation) else { return }
        signals.append(Signal(conversation: conversation, typing: typing, awaited: awaited))
    }

    mutating func fetchWanted(_ fetch: FetchID, of users: [UserID]) {
        gets.append(Get(fetch: fetch, users: users[...]))
    }

    mutating func fetchEnded(_ fetch: FetchID) {
        gets.removeAll { $0.fetch == fetch }
        delayedGets.removeAll { $0.fetch == fetch }
        for case (let id, .get(fetch, _)) in unanswered { unanswered[id] = nil }
    }

    /// Handles presence that answers a `get`, so the worker accepts more.
    mutating func getAnswered(_ id: MessageID) {
        guard getting.removeValue(forKey: id) != nil, case .integer(let message) = id else { return }
        retries.succeeded(.get, message: message)
    }

    /// Returns the subject of an acknowledged message. Each message is answered once.
    mutating func acknowledged(_ id: MessageID) -> Subject? {
        guard let subject = unanswered[id], case .integer(let message) = id else { return nil }
        retries.succeeded(subject.kind, message: message)
        if case .join(let conversation) = subject { rejoins.accepted(conversation) }
        // Presence answers a fetch, and may arrive after the acknowledgement.
        if case .get = subject { return nil }
        return unanswered.removeValue(forKey: id)
    }

    /// Returns the fetch of an unanswered `get`.
    func fetch(of id: MessageID) -> FetchID? {
        if case .get(let fetch, _) = unanswered[id] { fetch } else { nil }
    }

    /// Handles the worker's refusal of a message.
    ///
    /// `limit` is reported and also retried: room may become free when something else is given up, and a session that
    /// exceeded the limit before the worker stated it asks for less from then on.
    mutating func refused(
        _ error: MessageError, at now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator
    ) -> Refusal {
        guard let id = error.id, case .integer(let message) = id else { return .final(nil) }
        getting[id] = nil
        guard let subject = unanswered.removeValue(forKey: id) else { return .final(nil) }
        switch subject {
        case .watch(let users) where error.mayBeRetried: self.users.refusedForNow(users, by: message)
        case .join(let conversation) where error.mayBeRetried:
            conversations.refusedForNow([conversation], by: message)
            gatherings.refusedForNow([conversation], by: message)
        case .endMembers(let conversation) where error.mayBeRetried:
            conversations.refusedForNow([conversation], by: message)
            gatherings.keptForNow([conversation])
        case .get(let fetch, let users) where error.mayBeRetried:
            delayedGets.append(Get(fetch: fetch, users: users[...]))
        case .unwatch(let users) where error.retry: self.users.keptForNow(users)
        case .leave(let conversation) where error.retry: conversations.keptForNow([conversation])
        case .state(let state) where error.retry: if message == lastState { delayedState = state }
        case .token(let token) where error.retry: if message == lastToken { delayedToken = token }
        // A stop is not sent again: the waiting call returns at once, and the typing expires at the worker.
        case .watch, .unwatch, .join, .endMembers, .leave, .get, .stop, .state, .token:
            let refused = refusedForGood(subject, by: message)
            if error.code == .notAMember { notAMember(of: refused, at: now, using: &random) }
            return .final(refused)
        }
        retries.refused(subject.kind, at: now, using: &random)
        if case .get = subject { return .retried }
        return error.retry ? .retried : .final(subject)
    }

    /// Drops what this message asked for, unless a later message asked for it too.
    ///
    /// - Returns: `nil` if a later message asked for the conversation too.
    private mutating func refusedForGood(_ subject: Subject, by message: Int64) -> Subject? {
        switch subject {
        case .watch(let users):
            for user in users where self.users.isRefused(user, by: message) { self.users.refused(user) }
        case .join(let conversation), .endMembers(let conversation):
            guard conversations.isRefused(conversation, by: message) else { return nil }
            conversations.refused(conversation)
            gatherings.refused(conversation)
        case .unwatch, .leave, .get, .stop, .state, .token:
            break
        }
        return subject
    }

    /// Handles that the worker refuses a conversation to a user who is not a member. It is joined again later, if it is
    /// still wanted then.
    private mutating func notAMember(
        of subject: Subject?, at now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator
    ) {
        switch subject {
        case .join(let conversation), .endMembers(let conversation):
            if conversations.wants(conversation) { rejoins.refused(conversation, at: now, using: &random) }
        case .watch, .unwatch, .leave, .get, .stop, .state, .token, nil:
            break
        }
    }

    /// Handles that the worker ended a conversation, because the user is no longer a member.
    mutating func removed(
        from conversation: ConversationID, at now: ContinuousClock.Instant,
        using random: inout some RandomNumberGenerator
    ) {
        conversations.refused(conversation)
        gatherings.refused(conversation)
        notAMember(of: .join(conversation), at: now, using: &random)
    }

    /// Queues the joins whose pauses have ended.
    mutating func rejoinDue(at now: ContinuousClock.Instant) {
        for conversation in rejoins.takeDue(at: now) { conversations.want(conversation) }
    }

    /// Queues again what was refused for now.
    mutating func retryDue() {
        retries.begin(after: lastID)
        users.retry()
        conversations.retry()
        gatherings.retry()
        state = state ?? delayedState
        token = token ?? delayedToken
        gets += delayedGets
        (delayedState, delayedToken, delayedGets) = (nil, nil, [])
    }

    /// Resets what belongs to the old connection. Typing signals are dropped, never queued.
    mutating func connectionLost() {
        users.connectionLost()
        conversations.connectionLost()
        gatherings.connectionLost()
        signals = []
        (gets, delayedGets) = ([], [])
        (state, delayedState) = (nil, nil)
        (token, delayedToken) = (nil, nil)
        retries = Retries()
        rejoins = Rejoins()
        unanswered = [:]
        getting = [:]
    }

    /// Removes and returns the next messages, `count` at most. They count as sent from now on.
    mutating func take(_ count: Int) -> [ClientRequest] {
        var taken: [ClientRequest] = []
        func room() -> Int { count - taken.count }
        takeSignals(room(), into: &taken)
        if let token, room() > 0 {
            taken.append(ClientRequest(.token(token), id: ask(.token(token))))
            lastToken = lastID
            self.token = nil
        }
        if let state, room() > 0 {
            taken.append(ClientRequest(.state(state), id: ask(.state(state))))
            lastState = lastID
            self.state = nil
        }
        for conversation in conversations.takeSurplus(room()) {
            gatherings.refused(conversation)
            taken.append(ClientRequest(.leave(conversation), id: ask(.leave(conversation))))
        }
        if room() > 0 {
            let given = users.takeSurplus(usersPerMessage)
            if !given.isEmpty { taken.append(ClientRequest(.unwatch(given), id: ask(.unwatch(given)))) }
        }
        takeJoins(count, into: &taken)
        takeSignals(room(), into: &taken)
        takeWatches(count, into: &taken)
        takeGets(count, into: &taken)
        return taken
    }

    private mutating func takeSignals(_ room: Int, into taken: inout [ClientRequest]) {
        var room = room
        var waiting: [Signal] = []
        for signal in signals {
            if conversations.wasTold(signal.conversation), room > 0 {
                let id = signal.awaited.map { ask(.stop($0)) }
                taken.append(ClientRequest(.typing(signal.conversation, signal.typing), id: id))
                room -= 1
            } else if conversations.wasTold(signal.conversation) || conversations.isMissing(signal.conversation) {
                waiting.append(signal)
            }
        }
        signals = waiting
    }

    /// Takes new conversations first, then those for which only the subscription to members changed.
    private mutating func takeJoins(_ count: Int, into taken: inout [ClientRequest]) {
        func room() -> Int { count - taken.count }
        for conversation in conversations.nextMissing(max(0, min(room(), conversationRoom))) {
            let presence = gatherings.wants(conversation)
            taken.append(ClientRequest(.join(conversation, presence: presence), id: ask(.join(conversation))))
            conversations.told(conversation, by: lastID)
            if presence { gatherings.told(conversation, by: lastID) }
        }
        for conversation in gatherings.nextMissing(room(), where: conversations.wasTold) {
            taken.append(ClientRequest(.join(conversation, presence: true), id: ask(.join(conversation))))
            conversations.told(conversation, by: lastID)
            gatherings.told(conversation, by: lastID)
        }
        for conversation in gatherings.takeSurplus(room(), where: conversations.wasTold) {
            taken.append(ClientRequest(.join(conversation, presence: false), id: ask(.endMembers(conversation))))
            conversations.told(conversation, by: lastID)
        }
    }

    private mutating func takeWatches(_ count: Int, into taken: inout [ClientRequest]) {
        while taken.count < count, users.hasMissing, userRoom > 0 {
            let asked = users.takeMissing(min(usersPerMessage, userRoom), by: lastID + 1)
            taken.append(ClientRequest(.watch(asked), id: ask(.watch(asked))))
        }
    }

    private mutating func takeGets(_ count: Int, into taken: inout [ClientRequest]) {
        while taken.count < count, getRoom > 0, let get = gets.first {
            let asked = Array(get.users.prefix(min(usersPerMessage, getRoom)))
            let id = ask(.get(get.fetch, asked))
            getting[id] = asked.count
            taken.append(ClientRequest(.get(asked), id: id))
            gets[0].users = get.users.dropFirst(asked.count)
            if gets[0].users.isEmpty { gets.removeFirst() }
        }
    }

    private mutating func ask(_ subject: Subject) -> MessageID {
        lastID += 1
        unanswered[.integer(lastID)] = subject
        return .integer(lastID)
    }

    private var getRoom: Int { limits.watchedUsers - getting.values.reduce(0, +) }
    private var userRoom: Int { limits.watchedUsers - users.toldCount }
    private var conversationRoom: Int { limits.joinedConversations - conversations.toldCount }

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

extension MessageError {
    /// Whether a request that needs room at the worker may succeed later.
    fileprivate var mayBeRetried: Bool { retry || code == .limit }
}

/// Identifies one call that reads presence once.
struct FetchID: Hashable, Comparable, Sendable {
    private let number = SerialNumber()

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// Identifies a stop whose acknowledgement a call waits for.
struct StopID: Hashable, Sendable {
    private let number = SerialNumber()
}
