// What the worker has still to be told, and in which order: one's own typing first, since people wait for it, then what
// frees room, then what asks for more. What is superseded before it was sent is never sent.

/// The messages that bring the worker up to date.
struct Agenda {
    /// What a message with an id was about.
    enum Subject: Equatable {
        case watch([UserID])
        case join(ConversationID)
        case get(FetchID)
        case stop(StopID)
        case token
    }

    private struct Signal {
        var conversation: ConversationID
        var typing: Bool
        /// Who awaits the stop's acknowledgement.
        var awaited: StopID?
    }

    var users = Wanted<UserID>()
    var conversations = Wanted<ConversationID>()
    /// Of these conversations, those whose members are wanted too.
    var gatherings = Wanted<ConversationID>()
    private var limits = ServerMessage.Limits.beforeWelcome
    private var state: DeviceState?
    private var token: String?
    private var signals: [Signal] = []
    private var gets: [(fetch: FetchID, users: ArraySlice<UserID>)] = []
    private var unanswered: [MessageID: Subject] = [:]
    /// How many users each `get` names that the worker has not answered, whether anybody still waits for it or not.
    private var getting: [MessageID: Int] = [:]
    private var lastID: Int64 = 0

    /// Whether something is left that may be sent.
    var hasMore: Bool {
        state != nil || token != nil || !signals.isEmpty || users.hasSurplus || conversations.hasSurplus
            || !gets.isEmpty && getRoom > 0
            || gatherings.isDue(where: conversations.wasTold)
            || users.hasMissing && userRoom > 0 || conversations.hasMissing && conversationRoom > 0
    }

    /// Whether more users or conversations are wanted than the worker serves one session.
    var isBeyondLimits: Bool {
        users.hasMissing && userRoom <= 0 || conversations.hasMissing && conversationRoom <= 0
    }

    mutating func limitsLearnt(_ limits: ServerMessage.Limits) {
        self.limits = limits
    }

    mutating func stateChanged(to state: DeviceState) {
        self.state = state
    }

    mutating func tokenRefreshed(_ token: String) {
        self.token = token
    }

    /// A later signal replaces an earlier one of its conversation that was not sent yet, unless that is awaited.
    mutating func signalled(_ typing: Bool, in conversation: ConversationID, awaited: StopID? = nil) {
        signals.removeAll { $0.conversation == conversation && $0.awaited == nil }
        signals.append(Signal(conversation: conversation, typing: typing, awaited: awaited))
    }

    mutating func fetchWanted(_ fetch: FetchID, of users: [UserID]) {
        gets.append((fetch, users[...]))
    }

    mutating func fetchEnded(_ fetch: FetchID) {
        gets.removeAll { $0.fetch == fetch }
        for (id, subject) in unanswered where subject == .get(fetch) { unanswered[id] = nil }
    }

    /// The worker has answered a `get`, one way or the other, and takes more.
    mutating func getAnswered(_ id: MessageID) {
        getting[id] = nil
    }

    /// What the answered message was about; each is answered once.
    mutating func answered(_ id: MessageID) -> Subject? {
        unanswered.removeValue(forKey: id)
    }

    /// What a message still awaiting its answer is about.
    func subject(of id: MessageID) -> Subject? { unanswered[id] }

    /// Nothing said on the old connection counts; typing is dropped, never queued (T9).
    mutating func connectionLost() {
        users.connectionLost()
        conversations.connectionLost()
        gatherings.connectionLost()
        signals = []
        gets = []
        state = nil
        token = nil
        unanswered = [:]
        getting = [:]
    }

    /// The next messages, `count` at most, which count as sent from now on.
    mutating func take(_ count: Int) -> [ClientRequest] {
        var taken: [ClientRequest] = []
        func room() -> Int { count - taken.count }
        if let token, room() > 0 {
            taken.append(ClientRequest(.token(token), id: ask(.token)))
            self.token = nil
        }
        takeSignals(room(), into: &taken)
        if let state, room() > 0 {
            taken.append(ClientRequest(.state(state)))
            self.state = nil
        }
        for conversation in conversations.takeSurplus(room()) {
            gatherings.refused(conversation)
            taken.append(ClientRequest(.leave(conversation)))
        }
        if room() > 0 {
            let given = users.takeSurplus(usersPerMessage)
            if !given.isEmpty { taken.append(ClientRequest(.unwatch(given))) }
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

    /// New conversations first, then those where only the wish for their members has changed.
    private mutating func takeJoins(_ count: Int, into taken: inout [ClientRequest]) {
        func room() -> Int { count - taken.count }
        for conversation in conversations.takeMissing(max(0, min(room(), conversationRoom))) {
            let presence = gatherings.wants(conversation)
            if presence { gatherings.told(conversation) }
            taken.append(ClientRequest(.join(conversation, presence: presence), id: ask(.join(conversation))))
        }
        for conversation in gatherings.takeMissing(room(), where: conversations.wasTold) {
            taken.append(ClientRequest(.join(conversation, presence: true), id: ask(.join(conversation))))
        }
        for conversation in gatherings.takeSurplus(room(), where: conversations.wasTold) {
            taken.append(ClientRequest(.join(conversation, presence: false), id: ask(.join(conversation))))
        }
    }

    private mutating func takeWatches(_ count: Int, into taken: inout [ClientRequest]) {
        while taken.count < count, users.hasMissing, userRoom > 0 {
            let asked = users.takeMissing(min(usersPerMessage, userRoom))
            taken.append(ClientRequest(.watch(asked), id: ask(.watch(asked))))
        }
    }

    private mutating func takeGets(_ count: Int, into taken: inout [ClientRequest]) {
        while taken.count < count, getRoom > 0, let get = gets.first {
            let asked = get.users.prefix(min(usersPerMessage, getRoom))
            let id = ask(.get(get.fetch))
            getting[id] = asked.count
            taken.append(ClientRequest(.get(Array(asked)), id: id))
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

    /// How many names surely fit into one message: each takes 128 bytes at most, all of them escaped at worst.
    private var usersPerMessage: Int { max(1, (limits.messageBytes - 128) / 260) }
}

extension ServerMessage.Limits {
    /// What may surely be asked of a worker that has not yet said what it allows.
    fileprivate static var beforeWelcome: Self {
        Self(watchedUsers: 1000, joinedConversations: 200, messageBytes: 8192, messageRate: 10, messageBurst: 20)
    }
}

/// One call for presence once.
struct FetchID: Hashable, Sendable {
    private let number = SerialNumber()
}

/// One stop whose acknowledgement somebody awaits.
struct StopID: Hashable, Sendable {
    private let number = SerialNumber()
}
